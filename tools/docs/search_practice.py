"""What `stepwright tune` chooses for the jobs of examples/, held against published practice.

Every cell is read off the answers of the command. Where a plan departs from the practice, the job
is searched again with the practice imposed, and the cell says what that would cost.
"""

import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INTRODUCTION = """## Beside published practice

The table has the plans of `stepwright tune` that depart from a published practice, for jobs of
`examples/`, and the step time if the search must keep to the practice. If two plans differ by less
than 15 % in predicted step time, measurement may reverse their order.

- **Tensor parallelism stays inside the node**: arXiv 2104.04473, takeaway 1 of section 3.

- **The experts' exchange stays inside the node** (expert x expert-tensor ranks, the NVLink
  domain): [Megatron-Core, Mixture of
  Experts](https://docs.nvidia.com/megatron-core/developer-guide/0.16.0/user-guide/features/moe.html);
  DeepSeek-V3 (arXiv 2412.19437) crosses nodes with a dispatcher that sends a token to each node
  once.

- **Context parallelism is for long sequences**, 8,192 tokens and more: [Megatron-Core,
  Parallelism Strategies
  Guide](https://docs.nvidia.com/megatron-core/developer-guide/latest/user-guide/parallelism-guide.html).

- **Some memory stays free** in published practice.
"""

HEAD = "| job | plan | leaves the practice |\n|---|---|---|"

#: Stated error of the cost model, of a step.
ERROR = 0.15


class NoPlanError(Exception):
    """No plan: what the command said."""


def answer_of(command: str, arguments: list[str], accepted: tuple[int, ...] = (0,)) -> dict:
    """The document that a command prints."""
    done = subprocess.run(
        [command, *arguments, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode not in accepted:
        raise NoPlanError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


class Reading:
    """The plan of one job and what imposing a practice on it would cost."""

    def __init__(self, command: str, job: Path, folder: Path):
        self.command, self.folder = command, folder
        self.file = folder / "best.plan.yaml"
        self.best = answer_of(command, ["tune", str(job), "-o", str(self.file)])["plans"][0]
        self.plan = self.best["plan"]
        self.degrees = self.plan["parallel"]
        self.job = self.plan["job"]
        self.search = self.job.get("search", {})
        self.prediction = answer_of(command, ["predict", str(self.file)])
        self.node = self.devices_of_node()

    def devices_of_node(self) -> int:
        """Of the cluster."""
        cluster = self.job["cluster"]
        if "devices_per_node" in cluster:
            return cluster["devices_per_node"]
        profiles = answer_of(self.command, ["list", "profiles"])
        return next(p["devices_per_node"] for p in profiles if p["name"] == cluster["profile"])

    def imposed(self, **search: list[int]) -> str:
        """What the best plan takes under lists for some dimensions."""
        if any(name in self.search for name in search):
            return "the job states it"
        job = {"stepwright": "job/2", **self.job, "search": {**self.search, **search}}
        path = self.folder / "imposed.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        try:
            best = answer_of(self.command, ["tune", str(path)], accepted=(0, 1))["plans"][0]
        except NoPlanError as refused:
            return f"the practice leaves no plan ({refused})"
        if not best["fits"]:
            return "with the practice no plan fits in memory"
        more = best["step_time_s"] / self.best["step_time_s"] - 1
        doubt = ", within the error" if more < ERROR else ""
        return (
            f"with the practice a step takes {best['step_time_s']:.3g} s, "
            f"{100 * more:.1f} % longer{doubt}"
        )

    def sizes_up_to(self, most: int) -> list[int]:
        """Powers of two."""
        return [1 << power for power in range(most.bit_length()) if 1 << power <= most]

    def tensor(self) -> str | None:
        """Where the ranks of a tensor group leave the node, and what staying costs."""
        size = self.degrees["tensor"]
        if size <= self.node:
            return None
        cost = self.imposed(tensor=self.sizes_up_to(self.node))
        return f"tensor: {size} ranks in nodes of {self.node}: {cost}"

    def experts(self) -> str | None:
        """Where the ranks that exchange rows for experts leave the node, and what staying costs."""
        ranks = self.degrees["expert"] * self.degrees["expert_tensor"]
        if "routing" not in self.job or ranks <= self.node:
            return None
        dispatcher = self.job["dispatcher"]
        cost = self.imposed(expert=self.sizes_up_to(self.node))
        return f"experts: {ranks} ranks in nodes of {self.node}, dispatcher `{dispatcher}`: {cost}"

    def context(self) -> str | None:
        """Whether the length asks for context parallelism, and what a plan without costs."""
        size, length = self.degrees["context"], self.job["batch"]["length"]
        if size == 1:
            return None
        asked = "asks for it" if length >= 8192 else "does not ask for it"
        cost = self.imposed(context=[1])
        return f"context: {size} ranks; a length of {length:,} tokens {asked}; without: {cost}"

    def memory(self) -> str | None:
        """Where the plan does not leave free what it must."""
        if self.prediction["fits"]:
            return None
        free = 1 - self.prediction["peak_memory_bytes"] / self.prediction["capacity_bytes"]
        kept = self.prediction["reserve_bytes"] / self.prediction["capacity_bytes"]
        return f"memory: {100 * free:.1f} % of the device are free, {100 * kept:.1f} % should be"

    def title(self) -> str:
        """Model, devices and time."""
        model = self.job["model"]
        name = model if isinstance(model, str) else model.get("name", "inline model")
        devices = self.best["devices_used"]
        return f"{name}, {devices:,} devices, {self.best['step_time_s']:.3g} s"

    def row(self) -> str | None:
        """The job's row of the table, if its plan leaves a practice."""
        found = (self.tensor(), self.experts(), self.context(), self.memory())
        leaves = [one for one in found if one]
        if not leaves:
            return None
        code = answer_of(self.command, ["explain", str(self.file)])["code"]
        return f"| {self.title()} | `{code}` | {'; '.join(leaves)} |"


def practice(command: str) -> str:
    """The section of docs/search.md."""
    parts = [INTRODUCTION, HEAD]
    keep = []
    for job in sorted((ROOT / "examples").glob("*.yaml")):
        if "\nstepwright: job/" not in job.read_text(encoding="utf-8"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            reading = Reading(command, job, Path(folder))
            if row := reading.row():
                parts.append(row)
            else:
                keep.append(f"`{job.name}`")
    others = f"The plans of all other examples keep to the practices: {', '.join(keep)}."
    return "\n".join([*parts, "", others])
