"""What must come out the same on every backend?

``program`` (what one is) · ``reductions``, ``copies``, ``messages``, ``groups``, ``training`` (what runs through) ·
``mistakes`` (what must be refused, and how) · ``catalogue`` (all of them).
"""

from __future__ import annotations

__all__: list[str] = []
