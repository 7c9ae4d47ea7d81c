"""What are the numbers of a collective, if somebody else takes care of the time?

An algorithm fixes in which order contributions are combined (``rehearsal``). Run step by step, many ranks hold copies of
the same partial result and every hop is a copy. Here each expression is evaluated once, in one scratch buffer, and the
result is copied to whom it is promised: the same additions in the same order with the same operands left and right, so
the same bytes, and no copy in between.

A ``Program`` is the evaluation as a list of instructions, made once per algorithm, size and layout. Registers are
scratch chunks; operands are registers or what a rank held at the start. Expressions are walked depth first, so a tree on
p ranks needs about log2 p registers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .algorithm import Algorithm
from .call import Call
from .chain import chain, evaluate_chain
from .layout import Layout
from .promise import promise
from .rehearsal import Combined, Divided, Held, Rehearsal, rehearse

__all__ = ["Program", "compiled", "evaluate"]


class Operand(NamedTuple):
    """A register (``rank`` is -1), or what a rank held in a chunk at the start. ``number`` is the register or the chunk."""

    rank: int
    number: int


class Instruction(NamedTuple):
    """``registers[out] = left op right``; without ``right``: the average's division of a complete reduction."""

    out: int
    left: Operand
    right: Operand | None


class Program(NamedTuple):
    """How to evaluate an algorithm.

    Attributes:
        registers: for each register the chunk whose size it has.
        instructions: what to compute, in order.
        copies: (rank, chunk, operand): what is delivered where.
        joined: register numbers that together, in order, are the whole buffer which *every* rank gets; or empty.
    """

    registers: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    copies: tuple[tuple[int, int, Operand], ...]
    joined: tuple[int, ...]


def evaluate(calls: Sequence[Call]) -> None:
    """Carry out the data's part of a collective for all ranks.

    Args:
        calls: one per group rank, in order. On return their buffers hold what the collective promises; chunks that it
            does not promise keep what they held.
    """
    request = calls[0].request
    found = chain(request.algorithm, len(calls)) if request.algorithm.ring else None
    if found is not None:
        evaluate_chain(calls, found)
        return
    pieces = len(request.cuts) - 1 if request.cuts is not None else 1
    program = compiled(request.algorithm, len(calls), request.root, request.layout, pieces)
    scratch = _scratch(program, calls)

    def value(operand: Operand) -> Any:
        return scratch[operand.number] if operand.rank < 0 else calls[operand.rank].chunk(operand.number)

    combine, divisor = request.combine, request.divisor
    for out, left, right in program.instructions:
        if right is not None:
            assert combine is not None
            combine(value(left), value(right), out=scratch[out])
        elif divisor:
            np.divide(value(left), divisor, out=scratch[out])
        elif left != Operand(-1, out):
            scratch[out][...] = value(left)
    if program.joined:
        whole = scratch[program.joined[0]].base
        for call in calls:
            call.flat[...] = whole
    for rank, chunk, operand in program.copies:
        calls[rank].chunk(chunk)[...] = value(operand)


def _scratch(program: Program, calls: Sequence[Call]) -> list[Any]:
    """The registers. Those that are joined are slices of one buffer."""
    first = calls[0]
    if not program.joined:
        return [np.empty_like(first.chunk(chunk)) for chunk in program.registers]
    cuts = first.request.cuts or (0, first.flat.size)
    whole = np.empty_like(first.flat)
    joined = {register: whole[cuts[c] : cuts[c + 1]] for c, register in enumerate(program.joined)}
    return [
        joined[register] if register in joined else np.empty_like(first.chunk(chunk))
        for register, chunk in enumerate(program.registers)
    ]


@lru_cache(maxsize=256)
def compiled(algorithm: Algorithm, size: int, root: int, layout: Layout, pieces: int) -> Program:
    """The program of an algorithm (kept).

    Args:
        algorithm: what to evaluate.
        size: number of ranks.
        root: group rank of the root.
        layout: what the algorithm knows of where the ranks are.
        pieces: number of chunks of the buffer.
    """
    rehearsal = rehearse(algorithm, size, root, layout)
    return _Compiler(rehearsal, promise(algorithm.collective, size, root, pieces), pieces).program()


class _Compiler:
    """A program in the making."""

    def __init__(self, rehearsal: Rehearsal, promised: dict[tuple[int, int], int], pieces: int) -> None:
        self.values, self.pieces = rehearsal.values, pieces
        self.wanted = {place: rehearsal.final[place] for place in promised if not rehearsal.is_untouched(*place)}
        self.size, self.promised = rehearsal.size, promised
        self.uses = self.count()
        self.chunk_of: dict[int, int] = {}
        self.found: dict[int, Operand] = {}
        self.registers: list[int] = []
        self.idle: dict[int, list[int]] = {}
        self.instructions: list[Instruction] = []

    def count(self) -> Counter[int]:
        """How often each value is an operand, or delivered."""
        uses = Counter(self.wanted.values())
        seen: set[int] = set()
        open_values = list(dict.fromkeys(self.wanted.values()))
        while open_values:
            number = open_values.pop()
            if number in seen:
                continue
            seen.add(number)
            for operand in self.operands(number):
                uses[operand] += 1
                open_values.append(operand)
        return uses

    def operands(self, number: int) -> tuple[int, ...]:
        value = self.values[number]
        return () if isinstance(value, Held) else tuple(value)

    def program(self) -> Program:
        """Every value that is wanted, then where it goes."""
        for value in dict.fromkeys(self.wanted.values()):
            self.compute(value)
        joined = self.joined()
        copies = () if joined else tuple([(*place, self.found[value]) for place, value in self.wanted.items()])
        return Program(tuple(self.registers), tuple(self.instructions), copies, joined)

    def joined(self) -> tuple[int, ...]:
        """The registers that hold the whole buffer, if every rank gets the same and all of it was computed."""
        if len(self.promised) != self.size * self.pieces or len(self.wanted) != len(self.promised):
            return ()
        of_chunk = [{self.wanted[rank, chunk] for rank in range(self.size)} for chunk in range(self.pieces)]
        if any(len(values) != 1 for values in of_chunk):
            return ()
        operands = [self.found[values.pop()] for values in of_chunk]
        registers = tuple([operand.number for operand in operands])
        return registers if all(o.rank < 0 for o in operands) and len(set(registers)) == len(registers) else ()

    def compute(self, wanted: int) -> None:
        """Emit instructions for a value and what it is made of, depth first."""
        stack = [wanted]
        while stack:
            number = stack[-1]
            if number in self.found:
                stack.pop()
                continue
            value = self.values[number]
            if isinstance(value, Held):
                self.found[number], self.chunk_of[number] = Operand(*value), value.chunk
                stack.pop()
                continue
            missing = [operand for operand in reversed(self.operands(number)) if operand not in self.found]
            if missing:
                stack += missing
                continue
            self.emit(number, value)
            stack.pop()

    def emit(self, number: int, value: Combined | Divided) -> None:
        operands = self.operands(number)
        self.chunk_of[number] = chunk = self.chunk_of[operands[0]]
        places = [self.found[operand] for operand in operands]
        for operand, place in zip(operands, places, strict=True):
            self.uses[operand] -= 1
            if not self.uses[operand] and place.rank < 0:
                self.idle.setdefault(chunk, []).append(place.number)
        idle = self.idle.get(chunk)
        if idle:
            out = idle.pop()
        else:
            out = len(self.registers)
            self.registers.append(chunk)
        self.instructions.append(Instruction(out, places[0], places[1] if len(places) > 1 else None))
        self.found[number] = Operand(-1, out)
