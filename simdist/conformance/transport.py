"""Does a transport keep its rules, tried by itself?

Each rule gets new ends from the factory and a thread of its own, so that a transport that hangs is found like any other fault.
"""

from __future__ import annotations

import threading
import traceback
from typing import Any

from simdist.backends.custom.byte_transport import Factory, ends

from .report import Finding, Report
from .rules import RULES, BrokenError, Rule

__all__ = ["check_transport"]


def check_transport(factory: Factory, *, seconds: float = 5.0, what: str = "transport") -> Report:
    """Try the rules at the head of ``backends.custom.byte_transport`` one by one.

    Args:
        factory: (number of ranks) -> the end of each rank.
        seconds: how long a message may take; a rule as a whole may take three times as long.
        what: the heading of the report.
    """
    return Report(what, tuple(_try(rule, factory, seconds) for rule in RULES))


def _try(rule: Rule, factory: Factory, seconds: float) -> Finding:
    told: list[str] = []
    made: list[Any] = []

    def attempt() -> None:
        try:
            made.extend(ends("mine", factory, rule.size))
            rule.test(made, seconds)
            told.append("")
        except BrokenError as broken:
            told.append(f"rule {rule.number}: {rule.says} {broken}")
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            told.append(f"{type(error).__name__}: {error} ({last.name}, line {last.lineno} of {last.filename})")

    thread = threading.Thread(target=attempt, name="simdist-rule", daemon=True)
    thread.start()
    thread.join(3 * seconds)
    if not told:
        told.append(f"rule {rule.number}: {rule.says} This did not come to an end within {3 * seconds:g} s.")
    for end in made:
        if callable(getattr(end, "close", None)):
            end.close()
    return Finding(f"transport: {rule.name}", rule.size, told[0])
