"""Who waits for whom in a circle?

Rank a waits for b, b for c, ... for a: none of them can go on, whatever the others do. Every backend that sees ranks wait in
vain looks for such a circle and says how it is broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["BREAK_IT", "find_cycle", "told"]

BREAK_IT = (
    "Break it: let one side receive first, post isend/irecv and wait afterwards, or make every rank call the "
    "collectives of its groups in one common order."
)


def find_cycle(waits: Mapping[int, Sequence[int]]) -> list[int]:
    """A cycle of the wait-for graph as [a, b, ..., a], smallest first rank first; empty if there is none."""
    state: dict[int, int] = {}
    for origin in sorted(waits):
        if origin in state:
            continue
        path: list[int] = []
        stack = [(origin, iter(sorted(waits.get(origin, ()))))]
        while stack:
            node, targets = stack[-1]
            if node not in state:
                state[node] = 1
                path.append(node)
            for target in targets:
                if state.get(target) == 1:
                    cycle = path[path.index(target) :]
                    first = cycle.index(min(cycle))
                    cycle = cycle[first:] + cycle[:first]
                    return [*cycle, cycle[0]]
                if target in waits and target not in state:
                    stack.append((target, iter(sorted(waits.get(target, ())))))
                    break
            else:
                state[node] = 2
                path.pop()
                stack.pop()
    return []


def told(cycle: Sequence[int]) -> list[str]:
    """A circle as the last lines of a report, and how to break it; nothing if there is none."""
    return ["The cycle: " + " -> ".join(map(str, cycle)) + ".", BREAK_IT] if cycle else []
