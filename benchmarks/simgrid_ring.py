"""The ring of ``bench_simgrid`` in SimGrid's Python binding (Debian's ``python3-simgrid``); prints version, time, host seconds.

``python simgrid_ring.py NODES PER_NODE BYTES BANDWIDTH LATENCY``: every rank sends to its right neighbour, which is on
the next node; all ranks of a node share its link to the switch, one for each direction. SimGrid's corrections for TCP are
switched off: the links then have exactly the bandwidth and latency that they were given, shared max-min fairly.
"""

import sys
import time

from simgrid import Actor, Engine, LinkInRoute, Mailbox, NetZone, simgrid_version

OPTIONS = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "network/weight-S:0"]


def main(nodes: int, per_node: int, nbytes: int, bandwidth: float, latency: float) -> None:
    """Build the platform, run the ring, print."""
    engine = Engine(["ring", "--log=root.thresh:error", *[f"--cfg={option}" for option in OPTIONS]])
    size = nodes * per_node
    order = [i % nodes * per_node + i // nodes for i in range(size)]
    zone = NetZone.create_full_zone("cluster")
    hosts = [zone.create_host(f"device{device}", 1e9) for device in range(size)]
    up = [zone.create_link(f"up{node}", bandwidth).set_latency(latency) for node in range(nodes)]
    down = [zone.create_link(f"down{node}", bandwidth).set_latency(latency) for node in range(nodes)]
    for i, src in enumerate(order):
        dst = order[(i + 1) % size]
        route = [LinkInRoute(up[src // per_node]), LinkInRoute(down[dst // per_node])]
        zone.add_route(hosts[src].netpoint, hosts[dst].netpoint, None, None, route, False)
    zone.seal()
    boxes = [Mailbox.by_name(f"rank{i}") for i in range(size)]

    def rank(i: int) -> None:
        to_the_right, mine = boxes[(i + 1) % size], boxes[i]
        for _ in range(2 * (size - 1)):
            sent = to_the_right.put_async(0, nbytes // size)
            mine.get()
            sent.wait()

    for i in range(size):
        Actor.create(f"rank{i}", hosts[order[i]], rank, i)
    start = time.perf_counter()
    engine.run()
    seconds = time.perf_counter() - start
    print(simgrid_version, repr(Engine.clock), seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
