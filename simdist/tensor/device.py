"""Do new tensors hold numbers, or only shapes?

A run with ``device="meta"`` makes every new floating point tensor a shape without numbers. The tensor package does not know
what a run is: the launcher installs the function that tells (``set_device_source``).
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["current_device", "set_device_source"]

_source: list[Callable[[], str]] = [lambda: "real"]


def set_device_source(source: Callable[[], str]) -> None:
    """Ask ``source`` from now on; it returns ``"real"`` or ``"meta"``."""
    _source[0] = source


def current_device() -> str:
    """``"real"`` or ``"meta"``: where tensors are made that do not say it themselves."""
    return _source[0]()
