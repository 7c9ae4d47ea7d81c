"""DistributedDataParallel against numbers recorded from PyTorch 2.13's DDP on gloo, at world 2 and 4, simulated and real."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import simdist as sd
from simdist import nn, optim
from simdist.nn.parallel import DistributedDataParallel as DDP

DATA = Path(__file__).parent / "data"
BUCKETS = json.loads((DATA / "ddp_buckets.json").read_text())
OPTIMIZERS = {
    "sgd_mom": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "adamw": lambda p: optim.AdamW(p, lr=1e-2),
}


class Net(nn.Module):
    """The MLP of the recordings: 12-24-20-5 with relu and tanh."""

    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(12, 24), nn.Linear(24, 20), nn.Linear(20, 5)

    def forward(self, x):
        return self.l3(self.l2(self.l1(x).relu()).tanh())


class Chain(nn.Module):
    """Linear layers ``ls.0`` ... of the given sizes."""

    def __init__(self, sizes):
        super().__init__()
        self.ls = nn.ModuleList([nn.Linear(a, b) for a, b in pairwise(sizes)])

    def forward(self, x):
        for layer in self.ls:
            x = layer(x).relu()
        return x


def initial(seed):
    random = np.random.RandomState(seed)
    out = {}
    for name, rows, columns in (("l1", 24, 12), ("l2", 20, 24), ("l3", 5, 20)):
        out[f"{name}.weight"] = random.standard_normal((rows, columns)) / np.sqrt(columns)
        out[f"{name}.bias"] = 0.05 * random.standard_normal(rows)
    return out


def net(seed=0):
    model = Net().to(np.float64)
    model.load_state_dict({k: sd.tensor(v) for k, v in initial(seed).items()})
    return model


def batch(step, rank, world_size):
    random = np.random.RandomState(1)
    x, y = random.standard_normal((3, 8, 12)), random.standard_normal((3, 8, 5))
    rows = slice(rank * 8 // world_size, (rank + 1) * 8 // world_size)
    return sd.tensor(x[step][rows]), sd.tensor(y[step][rows])


def loss_of(model, step, rank, world_size):
    x, y = batch(step, rank, world_size)
    return nn.functional.mse_loss(model(x), y)


def gradients(model):
    return {name: p.grad.numpy().copy() for name, p in model.named_parameters()}


def program(rank, world_size):
    out = {}
    model = net()
    loss_of(model, 0, rank, world_size).backward()
    out |= {f"local_grad0/{k}": v for k, v in gradients(model).items()}
    for name, make in OPTIMIZERS.items():
        model = DDP(net())
        optimizer = make(model.parameters())
        for step in range(3):
            optimizer.zero_grad()
            loss_of(model, step, rank, world_size).backward()
            if step == 0 and name == "sgd_mom":
                out |= {f"ddp_grad0/{k}": v for k, v in gradients(model.module).items()}
            optimizer.step()
        out |= {f"{name}/w3/{k}": p.detach().numpy().copy() for k, p in model.module.named_parameters()}
    out["keys"] = list(model.state_dict())
    model = DDP(net())
    for step in range(3):
        if step < 2:
            with model.no_sync():
                loss_of(model, step, rank, world_size).backward()
        else:
            loss_of(model, step, rank, world_size).backward()
        out |= {f"no_sync/after{step}/{k}": v for k, v in gradients(model.module).items()}
    model = DDP(net())
    with model.no_sync():
        loss = loss_of(model, 0, rank, world_size)
    loss.backward()
    out["no_sync_fwd_only/l1.weight"] = model.module.l1.weight.grad.numpy().copy()
    model = DDP(net())
    loss = loss_of(model, 0, rank, world_size)
    with model.no_sync():
        loss.backward()
    out["no_sync_bwd_only/l1.weight"] = model.module.l1.weight.grad.numpy().copy()
    model = DDP(net())
    for step in range(2):
        loss_of(model, step, rank, world_size).backward()
    out["accumulate_2_synced/l1.weight"] = model.module.l1.weight.grad.numpy().copy()
    inner = net(100 + rank)
    inner.register_buffer("buf", sd.tensor(np.full(3, float(rank))))
    model = DDP(inner)
    out["init_sync/l1.weight"] = model.module.l1.weight.detach().numpy().copy()
    out["init_sync/buf"] = model.module.buf.numpy().copy()
    return out


@pytest.mark.parametrize(("backend", "world_size"), [("sim", 2), ("sim", 4), ("process", 2), ("process", 4)])
def test_core(backend, world_size):
    golden = np.load(DATA / f"ddp_world{world_size}.npz")
    run = sd.run(program, world_size=world_size, backend=backend, cluster="dgx-a100")
    compared = 0
    for rank, got in enumerate(run.results):
        assert got.pop("keys") == [f"module.{k}" for k in initial(0)]
        for name, value in got.items():
            key = next(k for k in (f"core/all/{name}", f"core/rank{rank}/{name}") if k in golden.files)
            want = golden[key]
            error = np.abs(value - want).max() / np.abs(want).max() if np.abs(want).max() else np.abs(value).max()
            assert error <= 1e-12, (key, error)
            compared += 1
    assert compared == world_size * (6 + 6 + 2 * 6 + 3 * 6 + 5)


# -- buckets --------------------------------------------------------------------------------------------------------------

MODELS = {
    "mlp": (Net, (4, 12)),
    "mid": (lambda: Chain([64, 256, 256, 64, 10]), (4, 64)),
    "big": (lambda: Chain([128, 512, 1024, 512, 256, 10]), (4, 128)),
    "gpt_untied": (lambda: gpt(False), None),
    "gpt_tied": (lambda: gpt(True), None),
}


def gpt(tied):
    from simdist.models import GPT, GPTConfig

    return GPT(GPTConfig(tied=tied))


def bucket_program(rank, world_size, model_name, dtype, cap):
    make, shape = MODELS[model_name]
    options = {} if cap is None else {"bucket_cap_mb": cap}
    model = DDP(make().to(np.dtype(dtype)), **options)
    seen = []
    for _ in range(3):
        if shape is None:
            out = model(sd.tensor(np.zeros((2, 16), np.int64)))
        else:
            out = model(sd.tensor(np.ones(shape, dtype)))
        seen.append([[model.reducer.names[i] for i in bucket.spec.indices] for bucket in model.reducer.buckets])
        out.sum().backward()
    return seen


CASES = [key for key in BUCKETS if key.count("/") == 2 and key.split("/")[0] in MODELS]


@pytest.mark.parametrize("key", CASES)
def test_bucket_contents_and_order(key):
    """Which parameters are in which bucket, in which order, in iterations 0, 1 and 2."""
    model_name, dtype, cap = key.split("/")
    cap = cap.removeprefix("cap=")
    cap = None if cap == "None" else float(cap)
    dtype = {"f32": "float32", "f64": "float64"}[dtype]
    seen = sd.run(bucket_program, model_name, dtype, cap, world_size=2, cluster="dgx-a100").results
    for rank in range(2):
        for iteration in (0, 1):
            want = [bucket["params"] for bucket in BUCKETS[key][f"iter{iteration}"]]
            assert seen[rank][iteration] == want, (rank, iteration)
        assert BUCKETS[key]["iter2_same_as_iter1"]
        assert seen[rank][2] == seen[rank][1]
