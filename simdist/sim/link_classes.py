"""Which links are alike?

A thousand ranks that all do the same use thousands of links in the same way: equal capacity, the same flows, each as often.
Such links are always equally full, so one of them can stand for all. A *class* is a set of links that no *use* seen so far
(which links, how often each) can tell apart. It starts with all links of one capacity; every new use splits the classes
that it touches in part. A flow is then counted on one link of each class that it touches, and rates come out the same, bit
for bit, because what is left out are copies.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["LinkClasses", "Use"]

Use = tuple[tuple[int, ...], tuple[float, ...] | None]
"""Numbers of links, each once, and how often each is used (None: once)."""


class LinkClasses:
    """Links that no use has told apart yet.

    Args:
        capacities: bytes per second of each link.
    """

    def __init__(self, capacities: Sequence[float]) -> None:
        first: dict[float, int] = {}
        self._class = [first.setdefault(capacity, len(first)) for capacity in capacities]
        self._members: list[dict[int, None]] = [{} for _ in first]
        for link, number in enumerate(self._class):
            self._members[number][link] = None
        self._merged: dict[Use, Use | None] = {}

    def __len__(self) -> int:
        """Number of classes."""
        return len(self._members)

    def add(self, use: Use) -> bool:
        """Take note of a use; whether a class was split, so that what ``merged`` said of others may have changed."""
        if use in self._merged:
            return False
        links, units = use
        touched: dict[tuple[int, float], list[int]] = {}
        for index, link in enumerate(links):
            touched.setdefault((self._class[link], units[index] if units else 1.0), []).append(link)
        split = False
        for (number, _), group in touched.items():
            old = self._members[number]
            if len(group) == len(old):
                continue
            split = True
            for link in group:
                del old[link]
                self._class[link] = len(self._members)
            self._members.append(dict.fromkeys(sorted(group)))
        if split:
            self._merged = dict.fromkeys(self._merged)
        self._merged[use] = None
        return split

    def merged(self, use: Use) -> Use:
        """One link for each class that ``use`` touches, and how often it is used; ``use`` has been added before."""
        found = self._merged[use]
        if found is None:
            links, units = use
            chosen: dict[int, float] = {}
            for index, link in enumerate(links):
                chosen.setdefault(next(iter(self._members[self._class[link]])), units[index] if units else 1.0)
            found = self._merged[use] = tuple(chosen), None if units is None else tuple(chosen.values())
        return found
