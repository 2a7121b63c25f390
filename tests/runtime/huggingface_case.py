"""What tests share that run models of transformers and ours on the same tokens.

Needs the packages of tools/requirements/runtime.txt; exits with 77 where transformers is missing.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
try:
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
TOLERANCE = 1e-4  # of a tensor's norm
SEQUENCES, LENGTH, VOCABULARY = 4, 16, 250
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": None,
}
LATENT = {  # of models of DeepSeek-V3's kind
    "num_key_value_heads": 4,
    "q_lora_rank": 12,
    "kv_lora_rank": 10,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_group": 2,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
}


def rotary(theta: float, **more: float) -> dict:
    return {"rope_type": "default", "rope_theta": theta, **more}


def plan_text(
    model: str | Path, precision: str = "fp64", ranks: int = 1, choices: str = "micro_batch: 2"
) -> str:
    return f"""stepwright: plan/1
job:
  model: {model}
  cluster: {{name: here, device: {{name: cpu, memory: 16e9, memory_bandwidth: 20e9,
    peak: {{fp64: 1e11, fp32: 2e11, bf16: 2e11}}}}, devices_per_node: 8, devices: {ranks},
    levels: [{{name: bus, size: 8, bandwidth: 1e9}}], nics_per_node: 1, nic: 1e9}}
  batch: {{sequences: {SEQUENCES}, length: {LENGTH}}}
  precision: {precision}
  optimizer: adamw
  routing: learned
{choices}
"""


def part(state: dict, name: str, axis: int = 0) -> torch.Tensor:
    """Tensors whose names differ in the word that {} stands for, one below the other."""
    head, words, tail = name.split("|")
    return torch.cat([state[head + word + tail] for word in words.split(",")], axis)


def in_double_precision(model) -> None:
    """Lets experts run as plain products: the grouped ones have no fp64."""
    if any(hasattr(model.config, key) for key in ("num_experts_per_tok", "moe_topk")):
        model.set_experts_implementation("eager")


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="stepwright-huggingface-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        torch.manual_seed(7)
        self.text = torch.randint(0, VOCABULARY, (2000,), dtype=torch.uint8)
        (self.folder / "text").write_bytes(bytes(self.text.tolist()))

    def call(self, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run(
            [COMMAND, *map(str, words)], capture_output=True, text=True, timeout=600, check=False
        )

    def run_command(self, *words: object) -> None:
        done = self.call(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def train(self, plan: str, *options: object) -> None:
        (self.folder / "plan.yaml").write_text(plan)
        data = ("--data", self.folder / "text", "--data-format", "text")
        self.run_command("train", self.folder / "plan.yaml", *data, *options)

    def logits(self) -> dict[str, torch.Tensor]:
        """What a run left, with its tokens compared with the text."""
        found = load_file(self.folder / "logits")
        self.assertEqual(found["tokens"].shape, (SEQUENCES, LENGTH))
        windows = self.text.long().unfold(0, LENGTH + 1, 1)
        for tokens, targets in zip(found["tokens"], found["targets"], strict=True):
            row = torch.cat([tokens, targets[-1:]])
            self.assertTrue((windows == row).all(1).any(), "no window of the text")
            self.assertTrue(torch.equal(row[1:], targets))
        return found

    def assert_near(self, ours: torch.Tensor, expected: torch.Tensor, what: str) -> None:
        self.assertEqual(ours.shape, expected.shape, what)
        far = (ours - expected).norm() / expected.norm()
        self.assertLessEqual(far.item(), TOLERANCE, what)
