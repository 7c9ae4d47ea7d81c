"""What happened? Spans, messages and memory of a run, and what can be learned from them.

``span`` (one thing that happened) · ``trace`` (all of them) · ``breakdown`` (where the time went).
"""

from simdist.trace.span import Flow, MemoryPoint, Span
from simdist.trace.trace import Trace

__all__ = ["Flow", "MemoryPoint", "Span", "Trace"]
