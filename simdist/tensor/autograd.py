"""How are gradients found?

Every primitive whose input needs a gradient leaves a Node on the tape: its row, what the gradient rule needs, and the edges
to the nodes (or leaf tensors) that its inputs came from. ``backward`` visits nodes from the last made to the first, so that
gradients reach the leaves in the order in which torch's engine delivers them; data-parallel buckets are rebuilt from that
order.

Invariants:

* The tape has no reference cycles: a node knows its inputs' nodes, nothing knows its consumers, and what a node keeps are arrays,
  never tensors. Memory goes back by reference count while the backward pass runs.
* A leaf's gradient is added to ``grad`` once for each backward pass, when its last contribution is there; then its hooks run.
* ``grad`` of a leaf owns its memory: it can be changed in place (averaged, clipped) without touching anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from functools import wraps
from itertools import count
from operator import attrgetter
from typing import Any

import numpy as np

from simdist.errors import GradientError

from .observe import Listener, current_listener
from .primitive import Array, Primitive, Work

__all__ = ["GRADIENT_MODE", "Node", "enable_grad", "is_grad_enabled", "no_grad", "run_backward", "set_grad_enabled"]

GRADIENT_MODE: ContextVar[Any] = ContextVar("simdist_gradient_mode", default=True)
"""False: nothing is recorded. True: primitives are recorded. Anything else: a checkpoint's recording, which also counts as on."""

_next_sequence = count().__next__


class Freed:
    """What a node keeps after its arrays were given back."""


FREED = Freed()


class Node:
    """One recorded primitive.

    Attributes:
        row: what was computed.
        edges: for each input the node it came from, the leaf tensor that it is, or None if it needs no gradient.
        saved: what the gradient rule needs; ``FREED`` afterwards; a Replay under activation checkpointing.
        tokens: memory tokens of the saved arrays (None without a listener).
        work: what the backward pass costs (None without a listener).
        hooks: functions that see, and may replace, the gradient of the result.
        sequence: nodes made later have larger numbers.
        dtype: of the result.
        pending: the sum of the gradients that came in so far in this backward pass.
        token: memory token of ``pending``.
    """

    __slots__ = ("dtype", "edges", "hooks", "pending", "row", "saved", "sequence", "token", "tokens", "work")

    hooks: dict[int, Callable[[Any], Any]] | None
    pending: Array | None
    token: Any
    tokens: Any
    work: list[Work] | None

    def __init__(self, row: Primitive, edges: Sequence[Any], saved: Any, dtype: Any) -> None:
        self.row = row
        self.edges = edges
        self.saved = saved
        self.dtype = dtype
        self.sequence = _next_sequence()
        self.pending = self.token = self.tokens = self.work = self.hooks = None

    def __repr__(self) -> str:
        return f"<{self.row.name} backward>"


class set_grad_enabled:  # noqa: N801 - torch's name
    """A block, or a decorated function, in which gradients are recorded or not.

    Args:
        mode: whether primitives are recorded.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        # switching on inside a recording keeps the recording
        now = GRADIENT_MODE.get()
        self._tokens.append(GRADIENT_MODE.set((now or True) if self._mode else False))

    def __exit__(self, *_: object) -> None:
        GRADIENT_MODE.reset(self._tokens.pop())

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function."""

        @wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(self._mode):
                return fn(*args, **kwargs)

        return wrapped


class no_grad(set_grad_enabled):  # noqa: N801 - torch's name
    """A block (``with no_grad():``) or function (``@no_grad()``) that leaves nothing on the tape."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad_enabled):  # noqa: N801 - torch's name
    """A block or function that records, inside a ``no_grad`` block too."""

    def __init__(self) -> None:
        super().__init__(True)


def is_grad_enabled() -> bool:
    """Whether primitives are recorded now."""
    return GRADIENT_MODE.get() is not False


_Leaves = dict[Any, tuple[int, Array | None]]
"""Leaf tensor -> how many contributions are still to come in this backward pass, and the sum of those that came."""


def run_backward(root: Any, gradient: Array, retain_graph: bool) -> None:
    """Send ``gradient`` from ``root`` (a Node, or a leaf tensor) to all leaves.

    Raises:
        GradientError: a part of the graph was freed by an earlier backward pass.
    """
    heard = current_listener()
    if type(root) is not Node:
        _contribute(root, gradient, gradient, {root: _ONCE}, heard)
        return
    nodes, leaves = _discover(root)
    root.pending = gradient
    mode = GRADIENT_MODE.set(False)
    try:
        while nodes:
            _visit(nodes.pop(), leaves, retain_graph, heard)
    finally:
        GRADIENT_MODE.reset(mode)
        for node in nodes:  # only after an error: leave no half-summed gradients behind
            node.pending = node.token = None


def _discover(root: Node) -> tuple[list[Node], _Leaves]:
    """All nodes that lead to ``root``, earliest first, and how many contributions each leaf will get."""
    nodes, seen = [root], {root}
    leaves: _Leaves = {}
    for node in nodes:  # the list grows meanwhile
        if node.saved is FREED:
            raise GradientError(
                f"backward ran through '{node.row.name}' a second time, but the arrays it needs were given back after the first "
                "time. Compute the loss again, or call the first backward with retain_graph=True."
            )
        for edge in node.edges:
            if type(edge) is Node:
                if edge not in seen:
                    seen.add(edge)
                    nodes.append(edge)
            elif edge is not None:
                leaves[edge] = _ONCE if edge not in leaves else (leaves[edge][0] + 1, None)
    nodes.sort(key=_sequence)
    return nodes, leaves


_ONCE: tuple[int, None] = (1, None)
_sequence = attrgetter("sequence")


def _visit(node: Node, leaves: _Leaves, retain_graph: bool, heard: Listener | None) -> None:
    """Apply one node's rule and hand the gradients on."""
    g, edges, saved = node.pending, node.edges, node.saved
    node.pending = None
    if g is not None and node.hooks is not None:
        g = run_hooks(node.hooks, g)
    if g is None:  # a part of the result that nothing flowed into: a zero for each leaf keeps the count right
        gradients: Sequence[Array | None] = [None] * len(edges)
    else:
        if type(saved) is not tuple:
            saved = saved.unpack()
        gradients = node.row.gradient(g, saved, edges)
        if heard is not None and node.work is not None:
            for flops, nbytes, matmul in node.work:
                heard.primitive(node.row.name, "backward", flops, nbytes, node.dtype, matmul)
    if not retain_graph:
        node.saved, node.edges, node.tokens = FREED, (), None
    saved = None
    for edge, part in zip(edges, gradients):  # noqa: B905 - rule 2 promises the length
        if type(edge) is not Node:
            if edge is not None:
                _contribute(edge, part, g, leaves, heard)
        elif part is not None:
            if edge.pending is None:
                edge.pending = part
                if heard is not None and part is not g:
                    edge.token = heard.allocate(part.nbytes, "workspace")
            else:
                edge.pending = edge.pending + part
    node.token = None


def run_hooks(hooks: dict[int, Callable[[Any], Any]], g: Array) -> Array:
    """Pass a gradient through the hooks of its tensor; each may return another one."""
    for hook in list(hooks.values()):
        replaced = hook(_wrap(g))
        if replaced is not None:
            g = replaced.data
    return g


def _contribute(leaf: Any, part: Array | None, incoming: Array | None, leaves: _Leaves, heard: Listener | None) -> None:
    """One more part of a leaf's gradient; the last one completes it."""
    if part is not None and (part is incoming or part.base is not None):
        part = part.copy()  # it belongs to somebody else too
    if leaves[leaf] is not _ONCE:
        missing, total = leaves.pop(leaf)
        if total is not None:
            part = total if part is None else total + part
        if missing > 1:
            leaves[leaf] = (missing - 1, part)
            return
    if part is None:
        return
    if leaf.hooks is not None:
        part = run_hooks(leaf.hooks, part)
    grad = leaf.grad
    if grad is None:
        if part.dtype != leaf.data.dtype:
            part = part.astype(leaf.data.dtype)
        leaf.grad = grad = _wrap_with[0](part)
        if heard is not None:
            grad.token = heard.allocate(part.nbytes, "gradients")
    else:
        np.add(grad.data, part, out=grad.data)
    if leaf.post_hooks is not None:
        for hook in list(leaf.post_hooks.values()):
            hook(leaf)


_wrap_with: list[Callable[[Array], Any]] = []


def _wrap(array: Array) -> Any:
    """A Tensor around an array (the class installs itself: it is defined on top of this module)."""
    return _wrap_with[0](array)


def install_tensor(wrap: Callable[[Array], Any]) -> None:
    """Called once by the module of the Tensor class."""
    _wrap_with[:] = [wrap]
