"""What happened? Spans, messages and memory of a run, and what can be learned from them.

``span`` (one thing that happened) · ``trace`` (all of them) · ``breakdown`` (where the time went) · ``steps`` (of the
training) · ``at`` (one moment) · ``critical_path`` (what made the run's time) · ``chrome`` and ``hta`` (files for
viewers) · ``validate`` (is a file valid).
"""

from simdist.trace.span import Flow, MemoryPoint, Span
from simdist.trace.trace import Trace

__all__ = ["Flow", "MemoryPoint", "Span", "Trace"]
