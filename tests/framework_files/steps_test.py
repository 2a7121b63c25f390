"""Files of `stepwright export` start real steps: two ranks over Gloo train a toy with the file as
it is, and what the program says of itself is the plan's.

accelerate on a CPU takes no FSDP (it says so of DistributedType.MULTI_CPU), so that its plain data
parallelism is trained. DeepSpeed would compile an operation for shared memory, which Gloo does not
need. Exits with 77 where a package is missing. STEPWRIGHT_COMMAND names the command.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

if not importlib.util.find_spec("torch") or not importlib.util.find_spec("transformers"):
    print("skipped: torch or transformers is missing (tools/setup.sh test)")
    sys.exit(77)

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
RANKS = 2
LIMIT_S = 600
JOB = """stepwright: plan/2
job:
  model: {layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 250}
  cluster: {profile: dgx-h100, devices: 2}
  batch: {sequences: 4, length: 16}
parallel: {data: 2}
"""
TOY = """
import json, os, sys
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                     intermediate_size=48, vocab_size=250))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
draw = torch.Generator().manual_seed(int(os.environ["RANK"]))

def say(**answer):
    # No rank goes while another one may still ask for it.
    if os.environ["RANK"] == "0":
        print("ANSWER" + json.dumps(answer), flush=True)
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
"""
ACCELERATE = (
    TOY
    + """
from accelerate import Accelerator

accelerator = Accelerator()
model, optimizer = accelerator.prepare(model, optimizer)
losses = []
tokens = torch.randint(0, 250, (1, 16), generator=draw)
for step in range(3):
    loss = model(input_ids=tokens, labels=tokens).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
say(losses=losses, ranks=accelerator.num_processes, precision=accelerator.mixed_precision,
    wrapped=type(model).__name__)
"""
)
DEEPSPEED = (
    TOY
    + """
import torch.distributed as dist
import deepspeed.comm.torch

sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
dist.init_process_group("gloo")
engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=sys.argv[1],
                                  dist_init_required=False)
losses = []
rows = engine.train_micro_batch_size_per_gpu()
tokens = torch.randint(0, 250, (rows, 16), generator=draw)
for step in range(3):
    for micro in range(engine.gradient_accumulation_steps()):
        loss = engine(input_ids=tokens, labels=tokens).loss
        engine.backward(loss)
        engine.step()
    losses.append(loss.item())
say(losses=losses, stage=engine.zero_optimization_stage(), steps=engine.global_steps,
    micro_batches=engine.gradient_accumulation_steps())
"""
)
TRAINER = (
    TOY
    + """
if len(sys.argv) > 1:
    import deepspeed.comm.torch

    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None
from transformers import Trainer, TrainingArguments

rows = [{"input_ids": row, "labels": row} for row in torch.randint(0, 250, (32, 16))]
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=1, gradient_accumulation_steps=2, max_steps=3,
    learning_rate=1e-2, logging_steps=1, report_to=[], save_strategy="no", use_cpu=True, bf16=True,
    ddp_backend="gloo", deepspeed=sys.argv[1] if len(sys.argv) > 1 else None)
trainer = Trainer(model=model, args=arguments, train_dataset=rows)
trainer.train()
losses = [each["loss"] for each in trainer.state.log_history if "loss" in each]
say(losses=losses, ranks=trainer.accelerator.num_processes, steps=trainer.state.global_step,
    stage=trainer.model_wrapped.zero_optimization_stage() if len(sys.argv) > 1 else 0,
    wrapped=type(trainer.model_wrapped).__name__)
"""
)
ENVIRONMENT_OF_ACCELERATE = """
import json, os, sys
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils.launch import prepare_multi_gpu_env

arguments = launch_command_parser().parse_args(["--config_file", sys.argv[1], "train.py"])
arguments, *_ = _validate_launch_command(arguments)
found = prepare_multi_gpu_env(arguments)
print("ANSWER" + json.dumps({key: value for key, value in found.items()
                             if key.startswith(("ACCELERATE", "FSDP", "PARALLELISM"))}))
"""


def answer_in(text: str) -> dict:
    lines = [line for line in text.splitlines() if line.startswith("ANSWER")]
    assert lines, text[-2000:]
    return json.loads(lines[-1].removeprefix("ANSWER"))


class Workplace:
    """A folder with an exported file and a program that trains with it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def __enter__(self) -> "Workplace":
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

    def export(self, target: str, plan: str) -> Path:
        (self.path / "plan.yaml").write_text(JOB + plan)
        output = self.path / f"exported.{'json' if target == 'deepspeed' else 'yaml'}"
        words = ["export", "--to", target, "--plan", self.path / "plan.yaml", "-o", output]
        subprocess.run([COMMAND, *words], check=True, capture_output=True)
        return output

    def environment_of_accelerate(self, config: Path) -> dict:
        """What `accelerate launch` sets for each rank."""
        words = [sys.executable, "-c", ENVIRONMENT_OF_ACCELERATE, str(config)]
        run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
        return answer_in(run.stdout + run.stderr)

    def train(self, program: str, *words: object, **environment: str) -> dict:
        """What rank 0 says; all ranks are gone then."""
        (self.path / "train.py").write_text(program)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        shared = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **environment}
        shared |= {"WORLD_SIZE": str(RANKS), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        ranks = []
        for rank in range(RANKS):
            own = shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            command = [sys.executable, str(self.path / "train.py"), *map(str, words)]
            with open(self.path / f"{rank}.txt", "w") as out:
                ranks.append(subprocess.Popen(command, env=own, stdout=out, stderr=out))
        try:
            codes = [rank.wait(timeout=LIMIT_S) for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
        texts = [(self.path / f"{rank}.txt").read_text() for rank in range(RANKS)]
        for rank, code in enumerate(codes):
            assert code == 0, f"rank {rank} ends with {code}: {texts[rank][-2000:]}"
        return answer_in(texts[0])


def needs(name: str):
    missing = importlib.util.find_spec(name) is None
    return unittest.skipIf(missing, f"{name} is not installed (tools/setup.sh test)")


@needs("accelerate")
class Accelerate(unittest.TestCase):
    def test_trains_data_parallel(self):
        place = self.enterContext(Workplace())
        config = place.export("accelerate", "sharding: NNN\n")
        given = place.environment_of_accelerate(config)
        said = place.train(ACCELERATE, ACCELERATE_USE_CPU="true", **given)
        self.assertEqual((said["ranks"], said["precision"]), (RANKS, "bf16"))
        self.assertEqual(said["wrapped"], "DistributedDataParallel")
        self.assertLess(said["losses"][-1], said["losses"][0])

    def test_takes_no_other_precision(self):
        place = self.enterContext(Workplace())
        config = place.export("accelerate", "sharding: NNN\n")
        config.write_text(config.read_text().replace("bf16", "bf17"))
        with self.assertRaises(AssertionError):
            place.environment_of_accelerate(config)


@needs("deepspeed")
class DeepSpeed(unittest.TestCase):
    def test_trains_with_shards(self):
        place = self.enterContext(Workplace())
        plan = "sharding: NGG\noverlap: {gradients: false}\n"
        config = place.export("deepspeed", plan)
        said = place.train(DEEPSPEED, config, DS_ACCELERATOR="cpu")
        self.assertEqual((said["stage"], said["steps"], said["micro_batches"]), (2, 3, 2))
        self.assertLess(said["losses"][-1], said["losses"][0])

    def test_takes_no_other_batch(self):
        place = self.enterContext(Workplace())
        config = place.export("deepspeed", "sharding: NGG\noverlap: {gradients: false}\n")
        wrong = json.loads(config.read_text()) | {"train_batch_size": 5}
        config.write_text(json.dumps(wrong))
        with self.assertRaisesRegex(AssertionError, "train_batch_size"):
            place.train(DEEPSPEED, config, DS_ACCELERATOR="cpu")


@needs("accelerate")
class Trainer(unittest.TestCase):
    """transformers' Trainer, which reads both."""

    def test_trains_data_parallel_as_accelerate_starts_it(self):
        place = self.enterContext(Workplace())
        given = place.environment_of_accelerate(place.export("accelerate", "sharding: NNN\n"))
        said = place.train(TRAINER, ACCELERATE_USE_CPU="true", **given)
        self.assertEqual((said["ranks"], said["steps"]), (RANKS, 3))
        self.assertEqual(said["wrapped"], "DistributedDataParallel")
        self.assertLess(said["losses"][-1], said["losses"][0])

    @needs("deepspeed")
    def test_trains_with_shards_of_deepspeed(self):
        place = self.enterContext(Workplace())
        config = place.export("deepspeed", "sharding: NGG\noverlap: {gradients: false}\n")
        said = place.train(TRAINER, config, DS_ACCELERATOR="cpu")
        self.assertEqual((said["stage"], said["steps"], said["wrapped"]), (2, 3, "DeepSpeedEngine"))
        self.assertLess(said["losses"][-1], said["losses"][0])


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips
