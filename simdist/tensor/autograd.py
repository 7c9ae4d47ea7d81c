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
        like: shape and dtype of the result.
    """

    __slots__ = ("edges", "hooks", "like", "pending", "row", "saved", "sequence", "token", "tokens", "work")

    def __init__(self, row: Primitive, edges: tuple[Any, ...], saved: Any, like: tuple[Any, ...]) -> None:
        self.row, self.edges, self.saved, self.like = row, edges, saved, like
        self.sequence = _next_sequence()
        self.pending: Array | None = None
        self.token: Any = None
        self.tokens: Any = None
        self.work: list[Work] | None = None
        self.hooks: dict[int, Callable[[Any], Any]] | None = None

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


class _Leaf:
    """The contributions to one leaf in this backward pass."""

    __slots__ = ("missing", "tensor", "total")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.missing = tensor, 1
        self.total: Array | None = None


def run_backward(root: Any, gradient: Array, retain_graph: bool) -> None:
    """Send ``gradient`` from ``root`` (a Node, or a leaf tensor) to all leaves.

    Raises:
        GradientError: a part of the graph was freed by an earlier backward pass.
    """
    if not isinstance(root, Node):
        leaf = _Leaf(root)
        _contribute(leaf, gradient, gradient, current_listener())
        return
    nodes, leaves = _discover(root)
    root.pending = gradient
    heard = current_listener()
    mode = GRADIENT_MODE.set(False)
    try:
        while nodes:
            _visit(nodes.pop(), leaves, retain_graph, heard)
    finally:
        GRADIENT_MODE.reset(mode)
        for node in nodes:  # only after an error: leave no half-summed gradients behind
            node.pending = node.token = None


def _discover(root: Node) -> tuple[list[Node], dict[int, _Leaf]]:
    """All nodes that lead to ``root``, earliest first, and how many contributions each leaf will get."""
    seen = {id(root)}
    nodes, stack = [root], [root]
    leaves: dict[int, _Leaf] = {}
    while stack:
        node = stack.pop()
        if node.saved is FREED:
            raise GradientError(
                f"backward ran through '{node.row.name}' a second time, but the arrays it needs were given back after the first "
                "time. Compute the loss again, or call the first backward with retain_graph=True."
            )
        for edge in node.edges:
            if edge is None:
                continue
            key = id(edge)
            if type(edge) is Node:
                if key not in seen:
                    seen.add(key)
                    nodes.append(edge)
                    stack.append(edge)
            elif key in leaves:
                leaves[key].missing += 1
            else:
                leaves[key] = _Leaf(edge)
    nodes.sort(key=_sequence)
    return nodes, leaves


_sequence = attrgetter("sequence")


def _visit(node: Node, leaves: dict[int, _Leaf], retain_graph: bool, heard: Listener | None) -> None:
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
            dtype = node.like[1]
            for flops, nbytes, matmul in node.work:
                heard.primitive(node.row.name, "backward", flops, nbytes, dtype, matmul)
    if not retain_graph:
        node.saved, node.edges, node.tokens = FREED, (), None
    saved = None
    for index, edge in enumerate(edges):
        if edge is None:
            continue
        part = gradients[index]
        if type(edge) is not Node:
            _contribute(leaves[id(edge)], part, g, heard)
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


def _contribute(leaf: _Leaf, part: Array | None, incoming: Array | None, heard: Listener | None) -> None:
    """One more part of a leaf's gradient; the last one completes it."""
    if part is not None:
        if leaf.total is not None:
            leaf.total = leaf.total + part
        elif part is incoming or part.base is not None:
            leaf.total = part.copy()  # it belongs to somebody else too
        else:
            leaf.total = part
    leaf.missing -= 1
    total = leaf.total
    if leaf.missing or total is None:
        return
    leaf.total = None
    tensor = leaf.tensor
    if tensor.hooks is not None:
        total = run_hooks(tensor.hooks, total)
    grad = tensor.grad
    if grad is None:
        if total.dtype != tensor.data.dtype:
            total = total.astype(tensor.data.dtype)
        tensor.grad = grad = _wrap_with[0](total)
        if heard is not None:
            grad.token = heard.allocate(total.nbytes, "gradients")
    else:
        np.add(grad.data, total, out=grad.data)
    if tensor.post_hooks is not None:
        for hook in list(tensor.post_hooks.values()):
            hook(tensor)


_wrap_with: list[Callable[[Array], Any]] = []


def _wrap(array: Array) -> Any:
    """A Tensor around an array (the class installs itself: it is defined on top of this module)."""
    return _wrap_with[0](array)


def install_tensor(wrap: Callable[[Array], Any]) -> None:
    """Called once by the module of the Tensor class."""
    _wrap_with[:] = [wrap]
