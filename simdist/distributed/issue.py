"""How does what the user calls become a ``comm.Call``?

Every collective goes the same way: find the group (a rank that is no member goes home with a warning), find the root,
check the reduction, make the call, hand it to the rank's backend, and let ``finish`` write the result into the user's
arrays: at once, or when the ``Work`` is waited for. Calls alike share one ``Request``, which the group remembers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from simdist import place
from simdist.backends import context
from simdist.comm.algorithm import Algorithm
from simdist.comm.call import Call, Request
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT
from simdist.comm.reduce_op import PremulSum, ReduceOp, reduction
from simdist.errors import GroupError

from .group import ProcessGroup, default_group, get_group_rank
from .loan import NOTHING, Lender, Lent, lend, refuse_lent
from .work import Work

__all__ = ["enter", "issue", "root_of"]


def enter(group: ProcessGroup | None, what: str) -> ProcessGroup | None:
    """The group, or None (with a warning) if the current rank is no member."""
    if group is None:
        world = context.current() or context.require(what)
        found = world.state.get("group")
        return found if found is not None else default_group(world)
    if group.members.rank < 0:
        group.must_exist(what)
        warnings.warn(
            f"rank {group.world.rank} calls {what} on {group!r}, of which it is no member: nothing happens.",
            stacklevel=3,
        )
        return None
    return group


def root_of(group: ProcessGroup, rank: int | None, group_rank: int | None, what: str, names: tuple[str, str]) -> int:
    """The group rank of the root, given as a global or as a group rank."""
    if (rank is None) == (group_rank is None):
        raise GroupError(
            f"{what}: give either {names[0]} (a global rank) or {names[1]} (a group rank), not both or none."
        )
    if group_rank is not None:
        if not 0 <= group_rank < group.size():
            raise GroupError(f"{what}: {names[1]}={group_rank}, but {group!r} has {group.size()} ranks.")
        return group_rank
    assert rank is not None
    if rank not in group.members.ranks:
        raise GroupError(
            f"{what}: {names[0]}={rank} is not in {group!r}. {names[0]} is a global rank; for a position in the group "
            f"use {names[1]}."
        )
    return get_group_rank(group, rank)


def issue(
    group: ProcessGroup,
    name: str,
    flat: Any,
    shape: tuple[int, ...] | None = None,
    op: ReduceOp | PremulSum | None = None,
    finish: Callable[[], None] | None = None,
    async_op: bool = False,
    root: int | None = None,
    kind: str | None = None,
    copies: int = 1,
    nbytes: int | None = None,
    parts: dict[int, Any] | None = None,
    cuts: tuple[int, ...] | None = None,
    algorithm: Algorithm | None = None,
    result: Any = None,
    lent: Lent = NOTHING,
) -> Work | None:
    """Make the call and hand it to the backend.

    Args:
        group: who.
        name: torch's name of the collective.
        flat: the work buffer.
        shape: what all ranks must agree on; it tells the size of ``flat``.
        op: the reduction, if there is one.
        finish: writes the result into the caller's arrays.
        async_op: return a Work at once.
        root: group rank of the root, if there is one.
        kind: which row of the algorithm table does it, if it is not ``name``.
        copies: how many buffers like ``flat`` the payload is.
        nbytes: bytes of the payload, where it is not that.
        parts: chunk number -> array, where chunks are not slices of ``flat``.
        cuts: where the chunks of ``flat`` begin and end, if they are not of one size.
        algorithm: the one that must do it, if only one can.
        result: the caller's arrays that hold the result, for ``Work.result()``.
        lent: the caller's arrays and Tensors that this rank overwrites, and those that it reads: a checked run guards them.

    Raises:
        BufferInUseError: one of the arrays belongs to another operation.
        TypeError, ReductionError: ``op`` is no reduction, or cannot be done on this dtype.
    """
    key = (name, shape, flat.dtype, op, root, cuts)
    request = group.requests.get(key)
    if request is None:
        size = flat.nbytes * copies if nbytes is None else nbytes
        request = _request(group, name, kind or name, flat, root, shape, op, size, cuts, algorithm)
        if algorithm is None:  # blocks of any sizes are a different request each time
            group.requests[key] = request
    if op.__class__ is PremulSum:
        np.multiply(flat, op.factor, out=flat)
    world, sequence = group.world, group.sequence
    if world.checked and "loans" in world.state:
        refuse_lent(world, partial(request.full_label, sequence), lent)
    group.sequence = sequence + 1
    where = place.caller() if world.checked else None
    late = async_op or group.timeout is not None
    inner = world.collective(Call(request, sequence, flat, where, parts), late)
    if late:
        guarded = async_op and world.checked and lent is not NOTHING
        loan = lend(Lender(world, partial(request.full_label, sequence), where), lent) if guarded else None
        work = Work(world, inner, finish, group.timeout, result, loan=loan)
        if async_op:
            return work
        work.wait()
        return None
    if finish is not None:
        finish()
    return None


def _request(
    group: ProcessGroup,
    name: str,
    kind: str,
    flat: Any,
    root: int | None,
    shape: Any,
    op: ReduceOp | PremulSum | None,
    nbytes: int,
    cuts: tuple[int, ...] | None,
    algorithm: Algorithm | None,
) -> Request:
    """What is asked, as a value that all calls alike share."""
    members, size = group.members, group.size()
    how = reduction(op, flat.dtype, name) if op is not None else None
    if algorithm is None:
        algorithm, layout = group.world.chooser.choose(kind, members.ranks, nbytes)
    else:
        layout = FLAT
    pieces = algorithm.pieces(size, layout)
    signature = _signature(
        name,
        shape,
        flat.dtype if shape is not None else None,
        how.name if how is not None else None,
        members.ranks[root] if root is not None else None,
    )
    return Request(
        name,
        members,
        algorithm,
        root or 0,
        cuts or (bounds(flat.size, pieces) if pieces > 1 else None),
        how.combine if how is not None else None,
        size if how is not None and how.averages else 0,
        signature,
        nbytes,
        layout,
    )


@lru_cache(maxsize=4096)
def _signature(*parts: Any) -> tuple[Any, ...]:
    """The same tuple for equal parts: the simulator then sees at a glance that ranks agree."""
    return parts
