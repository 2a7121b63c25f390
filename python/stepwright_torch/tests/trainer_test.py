"""transformers' Trainer and accelerate train unchanged on the process group "stepwright"."""

import importlib.util
import os
import sys
import tempfile
import unittest

import stepwright_torch
import torch
import torch.distributed as dist
from ranks import RANKS, on_ranks

if (
    importlib.util.find_spec("accelerate") is None
    or importlib.util.find_spec("transformers") is None
):
    print("skipped: transformers and accelerate are not installed (tools/setup.sh test)")
    sys.exit(77)

SAMPLES = 32
LENGTH = 12
VOCABULARY = 64


def samples() -> list[dict[str, torch.Tensor]]:
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(VOCABULARY, (SAMPLES, LENGTH), generator=generator)
    return [{"input_ids": row, "labels": row} for row in tokens]


def launched(rank: int) -> None:
    """What torchrun would have set; nobody opens the port, as the group is there already."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS))
    os.environ.update(LOCAL_WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT="0")


def with_trainer(rank: int) -> tuple[list[float], set[str]]:
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

    launched(rank)
    torch.manual_seed(5)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=LENGTH,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, use_cpu=True, max_steps=4, per_device_train_batch_size=2, logging_steps=1,
            learning_rate=0.01, save_strategy="no", report_to=[], disable_tqdm=True, seed=1,
        )  # fmt: skip
        trainer = Trainer(LlamaForCausalLM(config), arguments, train_dataset=samples())
        trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    return losses, scheduled()


def with_accelerate(rank: int) -> tuple[list[float], set[str]]:
    from accelerate import Accelerator

    launched(rank)
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(5)
    net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    data = torch.randn(SAMPLES, 16, generator=torch.Generator().manual_seed(3))
    loader = torch.utils.data.DataLoader(data, batch_size=2)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    losses = []
    for batch in loader:
        loss = net(batch).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach().reshape(1)).mean().item())
    return losses, scheduled()


def scheduled() -> set[str]:
    """Operations of the default group that ran as schedules."""
    if dist.get_backend() != "stepwright":
        return set()
    rows = stepwright_torch.report()["calls"]
    return {row["operation"] for row in rows if not row["wrapped_because"]}


class Frameworks(unittest.TestCase):
    def expect_as_gloo(self, act):
        ours = on_ranks(act)
        theirs = on_ranks(act, backend="gloo")
        for (losses, operations), (expected, _) in zip(ours, theirs, strict=True):
            self.assertGreater(len(losses), 3)
            self.assertIn("all_reduce", operations)
            for one, other in zip(losses, expected, strict=True):
                self.assertAlmostEqual(one, other, delta=1e-5 * (1 + abs(other)))

    def test_trainer(self):
        self.expect_as_gloo(with_trainer)

    def test_accelerate(self):
        self.expect_as_gloo(with_accelerate)


if __name__ == "__main__":
    unittest.main()
