"""Files of `stepwright export` for plans that together take every pair of choices, before the
programs of fine-tuning and of policies: TRL's parser and trainer (a step on a CPU) behind
Accelerate's launcher, torchtune's recipes and models, OpenRLHF's arguments down to DeepSpeed's
parser, verl's configuration and MaxText's, LLaMA-Factory's arguments, axolotl's schema and those of
Megatron-SWIFT.

Needs the packages of tools/requirements/judges_tuning.txt; what is missing is skipped and said.
STEPWRIGHT_COMMAND and STEPWRIGHT_GROUPS name the commands, STEPWRIGHT_DRAWS and STEPWRIGHT_SEED the
plans.
"""

import contextlib
import io
import multiprocessing
import unittest
from collections.abc import Callable
from pathlib import Path

import tuning_programs
from drawn_plans import Draw, count, drawn, judge_each
from judge_workplace import Workplace, has

RANKS = 32
USUAL_DRAWS = 12
SMALL = "{layers: 4, hidden: 64, heads: 8, ffn: 96, vocab: 1000%s}"
JOB = """stepwright: plan/2
job:
  model: %s
  cluster: {profile: dgx-h100, nodes: 4}
  batch: {sequences: 64, length: 512}
"""
CHOICES = {
    "model": ["", ", kv_heads: 4", ", tied: true", ", qkv_bias: true"],
    "tensor": [1, 2, 4],
    "pipeline": [1, 2],
    "context": [1, 2, 4],
    "context_kind": ["ring", "all-gather", "ulysses"],
    "sequence_parallel": [False, True],
    "sharding": [
        "NNN",
        "NNG",
        "NGG",
        "GGG",
        "{states: III, group: 8}",
        "{states: NII, group: 8}",
        "{states: IGG, group: 8}",
    ],
    "recompute": ["none", "selective", "full", "{every: 2}"],
    "micro_batch": [1, 2],
    "precision": ["bf16", "fp32", "fp16"],
    "accumulate": ["fp32", "bf16"],
    "attention": ["", "unfused", "flash2", "flash3"],
    "offload": ["{}", "{optimizer: 1}", "{optimizer: 1, parameters: true}"],
    "adapters": ["", "{rank: 8, targets: [q, v]}", "{rank: 16, alpha: 32, targets: all}"],
    "optimizer": ["adamw"],
}
ROLLOUT = "rollout: {tokens_per_s: 1800, prompt: 128, tensor: 2}"
POLICIES = (f"{{kind: grpo, {ROLLOUT}}}", f"{{kind: ppo, {ROLLOUT}}}")


def plan_of(draw: Draw) -> str:
    named = draw["model"][:1].isalpha()
    job = (
        JOB % (draw["model"] if named else SMALL % draw["model"])
        + f"  precision: {draw['precision']}\n"
    )
    job += f"  optimizer: {draw['optimizer']}\n"
    if draw["attention"]:
        job += f"  kernels: {{attention: {draw['attention']}}}\n"
    if draw["adapters"]:
        job += f"  adapters: {draw['adapters']}\n"
    if draw["method"]:
        job += f"  objective: {draw['method']}\n"
    cut = draw["tensor"] * draw["pipeline"] * draw["context"]
    sequence = draw["tensor"] > 1 and draw["sequence_parallel"]
    sums = draw["accumulate"] if draw["precision"] == "bf16" else "fp32"
    offload = draw["offload"]
    if draw["sharding"] != "GGG":
        offload = offload.replace(", parameters: true", "")
    return job + (
        f"parallel: {{tensor: {draw['tensor']}, pipeline: {draw['pipeline']}, "
        f"context: {draw['context']}, data: {RANKS // cut}}}\n"
        f"context_kind: {draw['context_kind']}\nsequence_parallel: {str(sequence).lower()}\n"
        f"sharding: {draw['sharding']}\nrecompute: {draw['recompute']}\n"
        f"micro_batch: {draw['micro_batch']}\naccumulate: {sums}\n"
        f"offload: {offload}\n"
    )


def apart(judge: Callable[[], None]) -> str | None:
    """What `judge` fails with in a process of its own; None if it passes. Megatron-SWIFT changes
    classes of transformers that TRL takes."""
    fork = multiprocessing.get_context("fork")
    heard, said = fork.Pipe(duplex=False)

    def run():
        try:
            judge()
            said.send(None)
        except BaseException as fault:
            said.send(str(fault) or repr(fault))

    process = fork.Process(target=run)
    process.start()
    said.close()
    try:
        return heard.recv()
    except EOFError:
        return "the judge ended without a word"
    finally:
        process.join()


class Tuning(unittest.TestCase):
    def judge(
        self,
        target: str,
        name: str,
        judge: Callable[[Path, Draw], None],
        **narrowed: list,
    ) -> None:
        """`narrowed`: choices of which the program's job has fewer values."""
        words = ("--nearest", "--even-if-it-does-not-fit")

        def write(plan: str) -> tuple[Workplace, Path]:
            place = Workplace()
            return place, place.export(target, plan, name, *words)

        def quietly(path: Path, draw: Draw) -> None:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                try:
                    judge(path, draw)
                except SystemExit as end:
                    raise AssertionError(said.getvalue()[-800:]) from end

        choices = {**CHOICES, **narrowed}
        plans = [(draw, plan_of(draw)) for draw in drawn(choices, count(USUAL_DRAWS))]
        fault = apart(lambda: judge_each(self, target, plans, write, quietly))
        self.assertIsNone(fault, fault)

    @unittest.skipUnless(
        has("trl", "datasets", "accelerate"), "trl is not installed (tools/setup.sh test)"
    )
    def test_trl_takes_every_pair(self):
        start = tuning_programs.start_trl
        self.judge("trl", "train.sh", start, method=["sft", "dpo"])

    @unittest.skipUnless(
        has("torchtune", "omegaconf"), "torchtune is not installed (tools/setup.sh test)"
    )
    def test_torchtune_takes_every_pair(self):
        start = tuning_programs.start_torchtune
        models = ["llama-3.2-1b", "llama-3-8b", "qwen2.5-0.5b", "mistral-7b"]
        self.judge("torchtune", "tune.yaml", start, method=["sft"], model=models)

    @unittest.skipUnless(
        has("openrlhf", "deepspeed"), "openrlhf is not installed (tools/setup.sh test)"
    )
    def test_openrlhf_takes_every_pair(self):
        start = tuning_programs.start_openrlhf
        methods = ["sft", "dpo", *POLICIES]
        optimizers = ["adamw", "adamw", "muon"]
        types = ["bf16", "bf16", "fp16"]  # fp32 is refused, and fp16 beside tensor parallelism.
        narrow = {"optimizer": optimizers, "precision": types}
        self.judge("openrlhf", "train.sh", start, method=methods, **narrow)

    @unittest.skipUnless(has("verl", "hydra"), "verl is not installed (tools/setup.sh test)")
    def test_verl_takes_every_pair(self):
        start = tuning_programs.start_verl
        self.judge("verl", "train.sh", start, method=list(POLICIES), precision=["bf16"])

    @unittest.skipUnless(
        has("maxtext", "omegaconf"), "maxtext is not installed (tools/setup.sh test)"
    )
    def test_maxtext_takes_every_pair(self):
        start = tuning_programs.start_maxtext
        narrow = {"precision": ["bf16", "fp32"], "offload": ["{}"], "adapters": [""]}
        self.judge("maxtext", "run.yml", start, method=[""], model=["", ", tied: true"], **narrow)

    @unittest.skipUnless(
        has("llamafactory", "omegaconf"), "llamafactory is not installed (tools/setup.sh test)"
    )
    def test_llama_factory_takes_every_pair(self):
        start = tuning_programs.start_llama_factory
        self.judge("llama-factory", "tune.yaml", start, method=[""])

    @unittest.skipUnless(
        has("axolotl", "addict", "PIL"), "axolotl is not installed (tools/setup.sh test)"
    )
    def test_axolotl_takes_every_pair(self):
        start = tuning_programs.start_axolotl
        self.judge("axolotl", "tune.yaml", start, method=["", "sft"])

    @unittest.skipUnless(
        has("swift", "json_repair", "PIL"), "ms-swift is not installed (tools/setup.sh test)"
    )
    def test_swift_takes_every_pair(self):
        start = tuning_programs.start_swift
        self.judge("ms-swift", "train.sh", start, method=["sft"], precision=["bf16"])


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
