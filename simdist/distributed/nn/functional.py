"""How does a gradient cross a collective?

torch's ``torch.distributed.nn.functional``: collectives that return a new Tensor and leave a node on the tape, so that the
backward pass communicates too. The loss that is differentiated is the **sum of all ranks' losses**, so each collective's
gradient is its conjugate:

* broadcast and reduce(sum); all-gather and reduce-scatter(sum); gather and scatter;
* all-reduce(sum) and itself; all-to-all and itself with input and output splits swapped.

Megatron's f and g are another convention (identity one way, all-reduce the other), because there all ranks compute one and
the same loss and it is counted once. Mixing the two multiplies or loses gradients by the number of ranks.

Every rank of the group must run the backward pass, in the same order: the conjugates are collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simdist.comm.reduce_op import ReduceOp
from simdist.distributed import copies, exchange, reductions
from simdist.distributed.group import ProcessGroup, resolve
from simdist.errors import GradientError
from simdist.tensor import Tensor, apply, as_tensor, concatenate, stack
from simdist.tensor.primitive import Primitive, elements

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip

Change = Callable[[Any], Any]
"""A function from an array to a new array, the same collective on all ranks."""


def _compute(array: Any, forward: Change, backward: Change) -> tuple[Any, tuple[Any, ...]]:
    return forward(array), (backward,)


def _gradient(g: Any, saved: tuple[Any, ...], needs: Sequence[Any]) -> tuple[Any]:
    return (saved[0](np.ascontiguousarray(g)),)


_ROW = Primitive("communication", _compute, _gradient, elements(0), is_view=True)


def _crossed(tensor: Any, forward: Change, backward: Change) -> Tensor:
    return apply(_ROW, [as_tensor(tensor)], forward, backward)


def _in_place(call: Callable[..., Any], *args: Any, **options: Any) -> Change:
    """The collective as a function: on a copy, which it returns."""

    def change(array: Any) -> Any:
        result = array.copy()
        call(result, *args, **options)
        return result

    return change


def _root(group: ProcessGroup, rank: int) -> bool:
    return group.world.rank == rank


def broadcast(tensor: Any, src: int, group: ProcessGroup | None = None) -> Tensor:
    """The tensor of global rank ``src`` on every rank; its gradient is the sum of all ranks', all others' is zero.

    Args:
        tensor: of equal shape on all ranks.
        src: global rank.
        group: None for the world.
    """
    found = resolve(group, "broadcast")
    return _crossed(tensor, _in_place(copies.broadcast, src, found), _to_root(found, src))


def _to_root(group: ProcessGroup, root: int) -> Change:
    def backward(g: Any) -> Any:
        total = g.copy()
        reductions.reduce(total, root, ReduceOp.SUM, group)
        return total if _root(group, root) else np.zeros_like(g)

    return backward


def reduce(tensor: Any, dst: int, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None) -> Tensor:
    """On global rank ``dst`` the sum of all ranks' tensors; elsewhere the own tensor, through which no gradient flows.

    Args:
        tensor: of equal shape on all ranks.
        dst: global rank.
        op: SUM.
        group: None for the world.

    Raises:
        GradientError: another reduction.
    """
    _only(op, (ReduceOp.SUM,), "reduce")
    found = resolve(group, "reduce")
    return _crossed(tensor, _in_place(reductions.reduce, dst, op, found), _in_place(copies.broadcast, dst, found))


def all_reduce(tensor: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None) -> Tensor:
    """The sum (or average) of all ranks' tensors on every rank; so is the gradient.

    Args:
        tensor: of equal shape on all ranks.
        op: SUM or AVG.
        group: None for the world.

    Raises:
        GradientError: another reduction.
    """
    _only(op, (ReduceOp.SUM, ReduceOp.AVG), "all_reduce")
    change = _in_place(reductions.all_reduce, op, resolve(group, "all_reduce"))
    return _crossed(tensor, change, change)


def _only(op: Any, allowed: tuple[ReduceOp, ...], what: str) -> None:
    if op not in allowed:
        names = " or ".join(str(one.name) for one in allowed)
        raise GradientError(f"{what}: gradients cross {names} only, got {op!r}.")


def _gathered(group: ProcessGroup) -> Change:
    def change(array: Any) -> Any:
        result = np.empty((group.size(), *array.shape), array.dtype)
        copies.all_gather_into_tensor(result, array, group)
        return result

    return change


def _shared_out(group: ProcessGroup) -> Change:
    def change(array: Any) -> Any:
        result = np.empty(array.shape[1:], array.dtype)
        reductions.reduce_scatter_tensor(result, array, ReduceOp.SUM, group)
        return result

    return change


def all_gather(tensor: Any, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """All ranks' tensors, in rank order; a tensor's gradient is the sum over all ranks.

    Args:
        tensor: of equal shape on all ranks.
        group: None for the world.
    """
    found = resolve(group, "all_gather")
    whole = _crossed(tensor, _gathered(found), _shared_out(found))
    return tuple([whole[rank] for rank in range(found.size())])


def reduce_scatter(
    output: Any, input_list: Sequence[Any], op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None
) -> Tensor:
    """The sum of all ranks' ``input_list[r]`` on rank r, as a new tensor; its gradient goes to all ranks.

    Args:
        output: tells the shape; it is not changed.
        input_list: one tensor for each rank.
        op: SUM.
        group: None for the world.

    Raises:
        GradientError: another reduction.
    """
    _only(op, (ReduceOp.SUM,), "reduce_scatter")
    found = resolve(group, "reduce_scatter")
    return _crossed(stack([as_tensor(one) for one in input_list]), _shared_out(found), _gathered(found))


def _brought(group: ProcessGroup, root: int) -> Change:
    def change(array: Any) -> Any:
        rows = np.zeros((group.size(), *array.shape), array.dtype)
        copies.gather(array, list(rows) if _root(group, root) else None, root, group)
        return rows

    return change


def _handed(group: ProcessGroup, root: int) -> Change:
    def change(array: Any) -> Any:
        result = np.empty(array.shape[1:], array.dtype)
        copies.scatter(result, list(array) if _root(group, root) else None, root, group)
        return result

    return change


def gather(tensor: Any, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """On global rank ``dst`` all ranks' tensors, elsewhere zeros. Use the result on every rank: the backward pass scatters.

    Args:
        tensor: of equal shape on all ranks.
        dst: global rank.
        group: None for the world.
    """
    found = resolve(group, "gather")
    whole = _crossed(tensor, _brought(found, dst), _handed(found, dst))
    return tuple([whole[rank] for rank in range(found.size())])


def scatter(tensors: Sequence[Any], src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """On rank r the r-th of global rank ``src``'s tensors; the gradients go back there.

    Args:
        tensors: one for each rank, of equal shape; used on ``src`` only, and needed elsewhere for the shape.
        src: global rank.
        group: None for the world.
    """
    found = resolve(group, "scatter")
    return _crossed(stack([as_tensor(one) for one in tensors]), _handed(found, src), _brought(found, src))


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
) -> Tensor:
    """Block r of every rank on rank r, as a new tensor; gradients take the way back, with the splits swapped.

    Args:
        output: tells the shape; it is not changed.
        input: as for ``distributed.all_to_all_single``.
        output_split_sizes: how many rows come from each rank.
        input_split_sizes: how many rows go to each rank.
        group: None for the world.
    """
    found = resolve(group, "all_to_all_single")
    there, here = as_tensor(output).shape, as_tensor(input).shape

    def exchanged(shape: tuple[int, ...], out: Any, given: Any) -> Change:
        def change(array: Any) -> Any:
            result = np.empty(shape, array.dtype)
            exchange.all_to_all_single(result, array, out, given, found)
            return result

        return change

    forward = exchanged(there, output_split_sizes, input_split_sizes)
    return _crossed(input, forward, exchanged(here, input_split_sizes, output_split_sizes))


def all_to_all(
    output_tensor_list: Sequence[Any], input_tensor_list: Sequence[Any], group: ProcessGroup | None = None
) -> tuple[Tensor, ...]:
    """New tensors: the s-th is rank s's ``input_tensor_list`` entry for this rank; gradients take the way back.

    Args:
        output_tensor_list: tell the shapes; they are not changed.
        input_tensor_list: one tensor for each rank.
        group: None for the world.
    """
    outputs, inputs = [as_tensor(one) for one in output_tensor_list], [as_tensor(one) for one in input_tensor_list]
    out, given = [one.numel() for one in outputs], [one.numel() for one in inputs]
    flat = concatenate([one.reshape(-1) for one in inputs])
    received = all_to_all_single(np.empty(sum(out), flat.dtype), flat, out, given, group)
    parts = received.split(out)
    return tuple([part.reshape(*one.shape) for part, one in zip(parts, outputs, strict=True)])
