"""What helps a learner who is stuck?"""

from __future__ import annotations

from simdist.learn.catalogue import find

__all__ = ["Hint", "hint"]


class Hint(str):
    """A text that a notebook and a Python prompt show as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def hint(name: str, level: int | None = None) -> Hint:
    """A hint for an exercise. Nothing is counted or remembered: you choose the level.

    Args:
        name: of the exercise.
        level: 1 (a question; also without a level), 2 (the idea), 3 (nearly the solution).

    Raises:
        UnknownNameError: no such exercise.
        ValueError: no such level.
    """
    texts = find(name).hints
    chosen = 1 if level is None else level
    if isinstance(chosen, bool) or not isinstance(chosen, int) or not 1 <= chosen <= len(texts):
        raise ValueError(
            f"hint({name!r}, {level!r}): the levels are 1 (a question), 2 (the idea), 3 (nearly the solution)."
        )
    more = f"\nNot enough? hint({name!r}, {chosen + 1})" if chosen < len(texts) else ""
    return Hint(f"Hint {chosen} of {len(texts)}: {texts[chosen - 1]}{more}")
