"""Step time of FSDP2 in an emulated cluster: the process group "stepwright" beside Gloo.

sudo python3 -B bench/fsdp_lab.py build/release/stepwright [--lab examples/emulation/lab.yaml]

Every rank of the lab trains the same small model with `fully_shard` on one group and then on the
other, in turn, in one run. Needs root, stepwright_torch in the environment that runs it (or
PYTHONPATH=build/release/python/stepwright_torch/package) and a quiet machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent / "examples" / "emulation" / "lab.yaml"
LAYERS, HIDDEN, TOKENS = 4, 384, 32
ROUNDS, STEPS = 3, 2
BACKENDS = ("gloo", "stepwright")


def train(mesh) -> tuple[float, list[float]]:
    """Seconds of a step and its losses."""
    import torch
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    layers = [
        torch.nn.Sequential(
            torch.nn.Linear(HIDDEN, 4 * HIDDEN),
            torch.nn.GELU(),
            torch.nn.Linear(4 * HIDDEN, HIDDEN),
        )
        for _ in range(LAYERS)
    ]
    model = torch.nn.Sequential(*layers)
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = torch.randn(TOKENS, HIDDEN)
    times, losses = [], []
    for _ in range(STEPS + 1):
        torch.distributed.barrier()
        begin = time.monotonic()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.monotonic() - begin)
        losses.append(loss.item())
    return statistics.mean(times[1:]), losses


def rank() -> None:
    """One rank: both groups in turn; rank 0 prints what it took."""
    import stepwright_torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh

    import torch  # isort: skip

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    groups = {name: dist.new_group(backend=name) for name in BACKENDS}
    meshes = {name: DeviceMesh.from_group(group, "cpu") for name, group in groups.items()}
    seconds: dict[str, list[float]] = {name: [] for name in BACKENDS}
    losses = {}
    for _ in range(ROUNDS):
        for name in BACKENDS:
            taken, losses[name] = train(meshes[name])
            seconds[name].append(taken)
    if dist.get_rank() == 0:
        tiers = stepwright_torch.report(groups["stepwright"])["tiers"]
        print("RESULT " + json.dumps({"seconds": seconds, "losses": losses, "tiers": tiers}))
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    """Starts the lab, or is one of its ranks."""
    if "STEPWRIGHT_LAB_NODE" in os.environ:
        return rank()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("--lab", default=str(LAB))
    options = parser.parse_args()
    program = [sys.executable, "-B", "-W", "ignore", str(Path(__file__).resolve())]
    call = [options.command, "lab", "run", "--timeout", "900", options.lab, "--", *program]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if "RESULT " in line]
    if done.returncode != 0 or not lines:
        sys.exit(done.stdout[-1000:] + done.stderr[-3000:])
    result = json.loads(lines[0].split("RESULT ", 1)[1])
    parameters = LAYERS * (8 * HIDDEN * HIDDEN + 5 * HIDDEN)
    print(f"{parameters / 1e6:.1f} M parameters in fp32, groups {result['tiers']}")
    for name in BACKENDS:
        taken = result["seconds"][name]
        each = ", ".join(f"{one:.2f}" for one in taken)
        print(f"{name}: {statistics.median(taken):.2f} s a step ({each})")
        print(f"  losses {result['losses'][name]}")
    ratio = statistics.median(
        g / s for g, s in zip(*(result["seconds"][name] for name in BACKENDS), strict=True)
    )
    print(f"gloo / stepwright: {ratio:.2f}")
    return None


if __name__ == "__main__":
    main()
