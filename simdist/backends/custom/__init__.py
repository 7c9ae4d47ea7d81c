"""How does one function run over a transport that somebody else has written?

| file | the one question it answers |
|---|---|
| `byte_transport` | what must a transport of your own do? |
| `wires` | how do frames and payloads get through it? |
| `launcher` | how is one function run on ranks that are threads? |

Everything above the wires is that of local processes (`backends.process`, `backends.process_world`): matching, receives from any
source, rendezvous, the comparison of what both sides say, time-outs. So the numbers and the error texts are the same.
"""

from __future__ import annotations

__all__: list[str] = []
