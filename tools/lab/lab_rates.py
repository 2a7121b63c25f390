"""Prints how well links of a lab keep their rates, as tables in Markdown (docs/emulation.md).

python3 -B tools/lab/lab_rates.py build/release/stepwright nic|inside|together|capacity
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TRAFFIC = Path(__file__).with_name("lab_traffic.py")
SIZES = {"64 KB": 64e3, "256 KB": 256e3, "1 MB": 1e6, "4 MB": 4e6, "16 MB": 16e6, "64 MB": 64e6}
MBIT = 125e3


def lab(nodes: int, ranks: int, nic: float, inside: float) -> str:
    """A lab file; rates in Mbit/s."""
    return (
        f"stepwright: lab/1\nnodes: {nodes}\nranks_per_node: {ranks}\n"
        f"nic: {{rate: {nic} Mbit/s}}\ninside: {{rate: {inside} Mbit/s}}\n"
    )


def seconds(command: str, text: str, flows: list[str]) -> dict[str, float]:
    """How long flows took that began together, by `FROM>TO`."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        program = [sys.executable, "-B", str(TRAFFIC), *flows]
        call = [command, "lab", "run", "--timeout", "120", file.name, "--", *program]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: float(taken) for _, name, taken in lines}


def sizes_table(command: str, where: str, rates: list[int]) -> None:
    """Rate of one message at a time over the nominal one."""
    print("| Mbit/s | " + " | ".join(SIZES) + " |")
    print("|---" * (len(SIZES) + 1) + "|")
    for rate in rates:
        cells = []
        for size in SIZES.values():
            times = int(min(20, max(2, 0.5 * rate * MBIT / size)))
            text = lab(2, 1, rate, 100) if where == "nic" else lab(1, 2, 100, rate)
            taken = seconds(command, text, [f"0>1:{size}*{times}"])["0>1"]
            cells.append(f"{size / taken / (rate * MBIT):.2f}")
        print(f"| {rate:,} | " + " | ".join(cells) + " |", flush=True)


def together_table(command: str, rates: list[int]) -> None:
    """Share of its rate that the slowest link keeps when 4 nodes of 4 ranks are busy for 2 s.

    Every rank sends to its peer on the next node and to the next rank of its own node.
    """
    print("| NIC, bus Mbit/s | all links | NICs busy: NIC | all busy: NIC | all busy: bus |")
    print("|---|---|---|---|---|")
    for rate in rates:
        size = 2 * rate * MBIT / 4
        across = [f"{rank}>{(rank + 4) % 16}" for rank in range(16)]
        within = [f"{rank}>{rank // 4 * 4 + (rank + 1) % 4}" for rank in range(16)]
        text = lab(4, 4, rate, 4 * rate)
        flows = [f"{name}:{size}" for name in across]
        nics = seconds(command, text, flows)
        both = seconds(command, text, flows + [f"{name}:{4 * size}" for name in within])
        # Flows of one link end together; the last tells its rate.
        shares = [
            2 / max(taken[name] for name in names)
            for taken, names in ((nics, across), (both, across), (both, within))
        ]
        cells = " | ".join(f"{share:.2f}" for share in shares)
        print(f"| {rate:,}, {4 * rate:,} | {20 * rate:,} | {cells} |", flush=True)


def capacity(command: str) -> None:
    """What `lab check` measures, ten times."""
    found = []
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(lab(2, 1, 100, 100))
        file.flush()
        for _ in range(10):
            call = [command, "lab", "check", "--json", file.name]
            done = subprocess.run(call, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout)["capacity_bytes_per_s"] / 1e9)
    print("GB/s:", ", ".join(f"{value:.2f}" for value in sorted(found)))


def main() -> None:
    """Prints the table that the second argument names."""
    command, what = sys.argv[1:3]
    if what == "together":
        together_table(command, [50, 100, 200, 400, 800])
    elif what == "capacity":
        capacity(command)
    else:
        sizes_table(command, what, [50, 100, 200, 400, 800, 1600])


if __name__ == "__main__":
    main()
