"""What do a store's client and its server say to each other?

One line of JSON asks, one answers. Values are bytes; JSON has none, so they travel as ``{"bytes": "<base64>"}``. Nothing is
unpickled: who can reach the port can change keys, and no more.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

__all__ = ["packed", "unpacked"]


def packed(message: Any) -> bytes:
    """A message of texts, numbers, bytes, lists and dictionaries as one line."""
    return json.dumps(message, default=_bytes).encode() + b"\n"


def unpacked(line: bytes) -> Any:
    """The message in a line."""
    return json.loads(line, object_hook=_object)


def _bytes(value: Any) -> dict[str, str]:
    return {"bytes": b64encode(value).decode()}


def _object(found: dict[str, Any]) -> Any:
    return b64decode(found["bytes"]) if list(found) == ["bytes"] else found
