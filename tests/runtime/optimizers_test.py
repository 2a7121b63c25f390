"""Updates against those of transformers' own optimizer, on the gradients of our runs."""

import unittest

import torch
from huggingface_case import Case, load_file, plan_text
from transformers.optimization import Adafactor

MODEL = "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, vocab: 250, qk_norm: true}"
RATE, DECAY, STEPS = 0.01, 0.1, 4
QUERIES, KEYS = 32, 16


def apart(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Queries, keys and values each by themselves."""
    parts = {}
    for name, value in tensors.items():
        if not name.endswith("attention.qkv"):
            parts[name] = value
            continue
        for word, part in zip("qkv", value.split([QUERIES, KEYS, KEYS]), strict=True):
            parts[name + word] = part
    return parts


class Updates(Case):
    def state(self, plan: str, steps: int) -> tuple[dict, dict]:
        """Weights after so many steps, and the gradients of the last one."""
        files = {"--weights": self.folder / "w", "--gradients": self.folder / "g"}
        words = [word for option in files.items() for word in option]
        rates = ("--lr", RATE, "--weight-decay", DECAY, "--clip", 0)
        self.train(plan, "--steps", steps, *rates, *words)
        gradients = load_file(self.folder / "g") if steps > 0 else {}
        return apart(load_file(self.folder / "w")), apart(gradients)

    def test_adafactor_is_that_of_transformers(self) -> None:
        plan = plan_text(MODEL).replace("optimizer: adamw", "optimizer: adafactor")
        weights, _ = self.state(plan, 0)
        parameters = {name: torch.nn.Parameter(value) for name, value in weights.items()}
        optimizer = Adafactor(
            parameters.values(),
            lr=RATE,
            weight_decay=DECAY,
            scale_parameter=False,
            relative_step=False,
        )
        for step in range(1, STEPS + 1):
            ours, gradients = self.state(plan, step)
            for name, parameter in parameters.items():
                parameter.grad = gradients[name].clone()
            optimizer.step()
            for name, parameter in parameters.items():
                far = (ours[name] - parameter.data).norm() / (1 + parameter.data.norm())
                self.assertLess(far.item(), 1e-9, f"{name} after {step}")
        # What it keeps of a matrix is rows and columns, and of the rest each element.
        states = {name: set(optimizer.state[p]) for name, p in parameters.items()}
        self.assertIn("exp_avg_sq_row", states["layers.0.mlp.fc1"])
        self.assertIn("exp_avg_sq", states["norm.final"])


if __name__ == "__main__":
    unittest.main()
