import simdist as sd
from simdist import nn
from simdist.utils.checkpoint import checkpoint


def test_it_saves_memory_and_costs_time_in_a_simulated_run():
    def program(rank, world_size, recompute):
        layers = nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)])
        x = sd.ones(512, 64, requires_grad=True)
        out = checkpoint(layers, x) if recompute else layers(x)
        held = sd.current_time()
        out.sum().backward()
        return held, x.grad.numpy().tobytes()

    plain = sd.run(program, False, world_size=1, cluster="dgx-a100")
    saved = sd.run(program, True, world_size=1, cluster="dgx-a100")
    assert saved.results[0][1] == plain.results[0][1]
    assert saved.time > plain.time
    assert saved.memory[0].peaks["activations"] < plain.memory[0].peaks["activations"]
