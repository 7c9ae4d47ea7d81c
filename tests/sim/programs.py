"""Programs for tests of the simulator that talk to it directly, below torch.distributed's names."""

import numpy as np

from simdist.cluster import presets
from simdist.comm import DEFAULT, Call, Members, Request
from simdist.comm.chunks import bounds
from simdist.comm.layout import FLAT
from simdist.sim import Job

MODES = {
    "short": {},
    "messages": {"shortcut": False},
    "strict": {"lazy": False},
    "strict messages": {"lazy": False, "shortcut": False},
}


def call(rank, sequence, flat, ranks=None, group=0, collective="all_reduce", root=0, kind="sum"):
    """A call of one rank, as ``simdist.distributed`` makes it."""
    ranks = tuple(range(rank.world_size)) if ranks is None else ranks
    members = Members(group, ranks, ranks.index(rank.rank), "world" if not group else f"group {group}")
    algorithm = DEFAULT[collective]
    cuts = None if algorithm.pieces(len(ranks), FLAT) == 1 else bounds(flat.size, len(ranks))
    signature = (collective, flat.shape, flat.dtype, kind, None)
    return Call(Request(collective, members, algorithm, root, cuts, np.add, 0, signature, flat.nbytes), sequence, flat)


def run(program, world_size, cluster="dgx-a100", **options):
    """A finished job of ``program(rank)``."""
    job = Job(presets.get(cluster, num_devices=world_size), world_size, program, **options)
    job.time = job.run()
    return job


def flows(job):
    """The job's messages as sorted rows, bundles unpacked."""
    return sorted(job.messages())


def picture(job):
    """Everything that must be equal between two ways of running one program."""
    return {
        "time": job.time,
        "ends": [rank.main.now for rank in job.ranks],
        "results": [np.asarray(r).tobytes() if isinstance(r, np.ndarray) else repr(r) for r in job.results],
        "spans": sorted(map(repr, job.spans)),
        "flows": flows(job),
    }
