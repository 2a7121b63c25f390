"""What `stepwright tune` chooses for the jobs of examples/, held against published practice.

Every line is read off the answers of the command. Where a plan departs from the practice, the job
is searched again with the practice imposed, and the line says what that would cost.
"""

import json
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INTRODUCTION = """## Beside published practice

For each job of `examples/` the plan of `tune`, point by point. Where it departs from the practice
the job was searched again with the practice imposed, and the line says what that costs. "Within the
error" are differences below the stated error of the cost model (15 %), which measurements may turn
around.

- **Tensor parallelism stays inside the node**: arXiv 2104.04473, takeaway 1 of section 3.
- **The experts' exchange stays inside the node** (expert x expert-tensor ranks, the NVLink domain):
  [Megatron-Core, Mixture of Experts](https://docs.nvidia.com/megatron-core/developer-guide/0.16.0/user-guide/features/moe.html);
  DeepSeek-V3 (arXiv 2412.19437) crosses nodes with a dispatcher that sends a token to each node
  once.
- **Context parallelism is for long sequences**, 8,192 tokens and more:
  [Megatron-Core, Parallelism Strategies Guide](https://docs.nvidia.com/megatron-core/developer-guide/latest/user-guide/parallelism-guide.html).
- **Memory keeps a reserve**: what the account does not know (docs/accuracy.md).
- **Sizes lie within what the cost model was fitted on**: else a ranking rests on extrapolation.
- **A framework runs it**: the table of `stepwright list frameworks`.
"""

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
        plan = folder / "best.plan.yaml"
        self.answer = answer_of(command, ["tune", str(job), "-o", str(plan)])
        self.best = self.answer["plans"][0]
        self.plan = self.best["plan"]
        self.degrees = self.plan["parallel"]
        self.job = self.plan["job"]
        self.search = self.job.get("search", {})
        self.prediction = answer_of(command, ["predict", str(plan)])
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

    def tensor(self) -> str:
        """Where the ranks of a tensor group are."""
        size = self.degrees["tensor"]
        if size == 1:
            return "none"
        if size <= self.node:
            return f"yes: {size} ranks in nodes of {self.node}"
        cost = self.imposed(tensor=self.sizes_up_to(self.node))
        return f"no, {size} ranks in nodes of {self.node}: {cost}"

    def experts(self) -> str:
        """Where those are that exchange rows for experts."""
        if "routing" not in self.job or self.degrees["expert"] == 1:
            return "none"
        ranks = self.degrees["expert"] * self.degrees["expert_tensor"]
        if ranks <= self.node:
            return f"yes: {ranks} ranks in nodes of {self.node}"
        dispatcher = self.job["dispatcher"]
        cost = self.imposed(expert=self.sizes_up_to(self.node))
        return f"no, {ranks} ranks in nodes of {self.node}, dispatcher `{dispatcher}`: {cost}"

    def context(self) -> str:
        """Whether the length asks for it."""
        size, length = self.degrees["context"], self.job["batch"]["length"]
        if size == 1:
            return f"none, for {length:,} tokens"
        asked = "asks for it" if length >= 8192 else "does not ask for it"
        cost = self.imposed(context=[1])
        return f"{size} ranks; a length of {length:,} tokens {asked}; without: {cost}"

    def memory(self) -> str:
        """What is left free of the device."""
        free = 1 - self.prediction["peak_memory_bytes"] / self.prediction["capacity_bytes"]
        kept = self.prediction["reserve_bytes"] / self.prediction["capacity_bytes"]
        verdict = "kept" if self.prediction["fits"] else "not kept"
        return f"{verdict}: {100 * free:.1f} % of the device free, reserve {100 * kept:.1f} %"

    def range(self) -> str:
        """Which operators lie outside of what was fitted."""
        mark = "outside of what was measured: "
        left = [note.split(mark)[1].rstrip(".") for note in self.answer["notes"] if mark in note]
        return "left by " + "; ".join(left) if left else "kept"

    def frameworks(self) -> str:
        """Who runs the plan, and the nearest for the first of the others."""
        text = ", ".join(self.best["runs_on"]) or "none as it is"
        near = [entry for entry in self.answer["nearest"] if entry["changes"]]
        if near:
            first = near[0]
            text += f"; nearest for {', '.join(first['frameworks'])}: {first['changes']}"
        return text

    def title(self) -> str:
        """Model, devices and time."""
        model = self.job["model"]
        name = model if isinstance(model, str) else model.get("name", "inline model")
        devices = self.best["devices_used"]
        return f"{name}, {devices:,} devices, {self.best['step_time_s']:.3g} s"

    def lines(self) -> list[str]:
        """The job's part of the section."""
        degrees = ", ".join(f"{name} {size}" for name, size in self.degrees.items() if size > 1)
        rows = {
            "plan": f"{degrees}; {self.plan['schedule']['kind']}, micro-batch "
            f"{self.plan['micro_batch']}, states {self.plan['sharding']['states']}, recompute "
            f"{self.plan['recompute']}",
            "tensor inside the node": self.tensor(),
            "experts' exchange inside the node": self.experts(),
            "context for long sequences only": self.context(),
            "memory reserve": self.memory(),
            "fitted range": self.range(),
            "runs on": self.frameworks(),
        }
        table = ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items())]
        return [f"### {self.title()}", "", *table, ""]


def practice(command: str) -> str:
    """The section of docs/search.md."""
    parts = [INTRODUCTION]
    for job in sorted((ROOT / "examples").glob("*.yaml")):
        if "\nstepwright: job/" not in job.read_text(encoding="utf-8"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            parts.append("\n".join(Reading(command, job, Path(folder)).lines()))
    return "\n".join(parts)
