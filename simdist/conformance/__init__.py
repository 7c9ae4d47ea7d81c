"""Does a backend do what the others do?

``check`` (a backend, against the simulator) · ``transport`` and ``rules`` (a transport by itself) · ``programs`` (what is tried)
· ``comparison`` (equal, bit for bit) · ``report`` (what was found).

    sd.register_backend("mine", factory)
    print(conformance.check("mine"))
"""

from .check import check
from .report import Finding, Report
from .transport import check_transport

__all__ = ["Finding", "Report", "check", "check_transport"]
