"""Do new tensors hold numbers, or only shapes?

A run with ``device="meta"`` makes every new floating point tensor a shape without numbers. The tensor package does not know
what a run is: the launcher installs the function that tells (``set_device_source``).
"""

from __future__ import annotations

from collections.abc import Callable

from simdist.errors import UnknownNameError

__all__ = ["DEVICES", "current_device", "set_device_source", "wants_meta"]

DEVICES: dict[str, bool] = {"real": False, "cpu": False, "meta": True}
"""Where a tensor can be made, and whether it is only a shape there: ``"real"`` (torch calls it ``"cpu"``) holds numbers."""

_source: list[Callable[[], str]] = [lambda: "real"]


def set_device_source(source: Callable[[], str]) -> None:
    """Ask ``source`` from now on; it returns ``"real"`` or ``"meta"``."""
    _source[0] = source


def current_device() -> str:
    """``"real"`` or ``"meta"``: where tensors are made that do not say it themselves."""
    return _source[0]()


def wants_meta(device: str | None) -> bool:
    """Whether a tensor made on ``device`` (None: the run's) is only a shape.

    Raises:
        UnknownNameError: there is no such device.
    """
    if device is None:
        return _source[0]() == "meta"
    found = DEVICES.get(str(device))
    if found is None:
        raise UnknownNameError(
            "device", device, DEVICES, "Leave device= out: a rank's tensors are on its own accelerator by themselves."
        )
    return found
