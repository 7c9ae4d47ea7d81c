"""How does one function run under MPI, on one machine or on several?

| file | the one question it answers |
|---|---|
| `launcher` | how is one function run on every rank of ``MPI.COMM_WORLD``? |
| `library` | which MPI is it, who is this process in it, and which communicators are ours? |
| `wires` | how do frames and payloads get through MPI? |
| `endpoint` | how do all ranks learn that one has failed? |
| `assembly` | how do the ranks tell each other what became of the run? |
| `native` | what if MPI's own collectives are wanted? |

Everything above the wires is that of local processes (`backends.process`, `backends.process_world`): matching, rendezvous, the
comparison of what both sides say, time-outs. So the numbers and the error texts are the same. ``mpi4py`` is imported here only,
and only when a run asks for it.
"""

from __future__ import annotations

__all__: list[str] = []
