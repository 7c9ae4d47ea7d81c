"""How is memory traded for time?

``checkpoint(fn, *args)`` runs ``fn`` and forgets the arrays that its gradients would need; the backward pass runs ``fn``
again when it gets there. The graph itself stays, so gradients reach the leaves once, in the same order and with the same
bits as without.

The second run must compute the same thing. Dropout's masks have addresses, and the addresses used the first time are
remembered (``remembered``) and used again.

Paper: Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv 1604.06174.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from simdist.errors import GradientError

from .autograd import GRADIENT_MODE, Node
from .tensor import Tensor

__all__ = ["checkpoint", "remembered"]

T = TypeVar("T")


class Recording:
    """What happens during one run of a checkpointed function.

    Attributes:
        nodes: the nodes made, in order.
        draws: what ``remembered`` returned, in order.
        replay: the draws of the first run, or None if this is it.
    """

    def __init__(self, replay: list[Any] | None = None) -> None:
        self.nodes: list[Node] = []
        self.draws: list[Any] = []
        self.replay = None if replay is None else iter(replay)

    def record(self, node: Node) -> None:
        """A primitive left a node."""
        self.nodes.append(node)


def remembered(produce: Callable[[], T]) -> T:
    """``produce()``; in the second run of a checkpointed function what it returned in the first."""
    recording = GRADIENT_MODE.get()
    if not isinstance(recording, Recording):
        return produce()
    if recording.replay is not None:
        value: T = next(recording.replay)
    else:
        value = produce()
    recording.draws.append(value)
    return value


class Segment:
    """A checkpointed call: enough to run it again."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.draws: list[Any] = []
        self.names: list[str] = []
        self.pieces: dict[int, Any] = {}

    def run(self, recording: Recording, args: tuple[Any, ...]) -> Any:
        """Call the function with its nodes recorded."""
        token = GRADIENT_MODE.set(recording)
        try:
            return self.fn(*args, **self.kwargs)
        finally:
            GRADIENT_MODE.reset(token)

    def piece(self, index: int) -> Any:
        """What node ``index`` saves: from a new run if this is the first one asked for."""
        if index not in self.pieces:
            recording = Recording(self.draws)
            self.run(recording, tuple([_fresh(a) for a in self.args]))
            if [node.row.name for node in recording.nodes] != self.names:
                raise GradientError(
                    "checkpoint: the function did other operations when it was run again in the backward pass "
                    f"({len(recording.nodes)} instead of {len(self.names)} recorded). It must not depend on anything that "
                    "changes between the two runs."
                )
            self.pieces = {i: (node.saved, node.tokens) for i, node in enumerate(recording.nodes)}
        saved, _ = self.pieces.pop(index)
        return saved


class Replay:
    """Stands for the saved arrays of one node in a checkpointed call."""

    __slots__ = ("index", "segment")

    def __init__(self, segment: Segment, index: int) -> None:
        self.segment, self.index = segment, index

    def unpack(self) -> Any:
        """The saved arrays."""
        saved = self.segment.piece(self.index)
        return saved if type(saved) is tuple else saved.unpack()


def _fresh(value: Any) -> Any:
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value


def checkpoint(fn: Callable[..., Any], *args: Any, use_reentrant: bool = False, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, keeping only its arguments for the backward pass.

    Args:
        fn: a function of tensors, or a module; it must compute the same when it is run again.
        args: its arguments.
        use_reentrant: torch's argument; only False exists here.
        kwargs: its keyword arguments.

    Raises:
        ValueError: ``use_reentrant=True``.
        GradientError: in the backward pass, if the second run did other operations.
    """
    if use_reentrant:
        raise ValueError("checkpoint: only use_reentrant=False exists here; it is what torch recommends.")
    outer = GRADIENT_MODE.get()
    if outer is False:
        return fn(*args, **kwargs)
    segment = Segment(fn, args, kwargs)
    recording = Recording()
    result = segment.run(recording, args)
    segment.draws = recording.draws
    segment.names = [node.row.name for node in recording.nodes]
    for index, node in enumerate(recording.nodes):
        node.saved, node.tokens = Replay(segment, index), None
        if outer is not True:
            outer.record(node)
    return result
