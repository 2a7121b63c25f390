"""Small random configurations of every type that transformers has: what is executed of them gives
the logits of transformers' own modules, whatever a file says.

A refusal is no failure here; the judge of tests/huggingface knows which types are read.
"""

import json
import sys
import unittest
from pathlib import Path

from huggingface_case import LENGTH, TOLERANCE, Case, in_double_precision, plan_text, torch

sys.path.insert(0, str(Path(__file__).parents[1] / "huggingface" / "judge"))
import theirs
from drawn import drawn, left_out

TYPES = json.loads((Path(theirs.__file__).parent / "types.json").read_text())
WINDOWS = [3, 5, 20]
TRIES = 4  # of a type, until one is executed
REFUSED = (2, 3)  # exit codes
LARGEST = 2_000_000  # parameters
SINGLE = ("xglm",)  # whose code is of single precision


def run(model: theirs.Model) -> None:
    with torch.no_grad():
        model(torch.zeros(1, LENGTH, dtype=torch.long), use_cache=False)


class Drawn(Case):
    def random_model(self, model_type: str, seed: str) -> theirs.Model | None:
        """With values at which every part of a layer matters; nothing where there is no model."""
        there = self.folder / "model"
        try:
            changes = TYPES[model_type].get("configuration", {})
            found = drawn(model_type, changes, seed, WINDOWS)
            theirs.default_configuration(model_type, found).save_pretrained(there)
            configuration = theirs.read_configuration(there)
            left_out(there / "config.json", seed, configuration)
            model = theirs.model_of(theirs.read_configuration(there), "cpu")
            in_double_precision(model)
            if sum(one.numel() for one in model.parameters()) > LARGEST:
                return None
            run(model if model_type in SINGLE else model.double())
        except Exception:  # transformers makes no such model, which it says in many ways
            return None
        with torch.no_grad():
            for parameter in model.parameters():
                mean = 1.0 if parameter.dim() == 1 and (parameter == 1).all() else 0.0
                parameter.normal_(mean, 0.15)
                if not parameter.requires_grad:
                    parameter.zero_()
        return model

    def compared(self, model_type: str, seed: str) -> bool:
        """Whether a model of this seed is executed, as there."""
        torch.manual_seed(7)
        model = self.random_model(model_type, seed)
        if model is None:
            return False
        there = self.folder / "model"
        config = (there / "config.json").read_bytes()
        model.save_pretrained(there)
        (there / "config.json").write_bytes(config)
        (self.folder / "plan.yaml").write_text(plan_text(there))
        data = ("--data", self.folder / "text", "--data-format", "text", "--weights-from", there)
        options = ("--steps", 1, "--lr", 0, "--logits", self.folder / "logits")
        done = self.call("train", self.folder / "plan.yaml", *data, *options)
        if done.returncode in REFUSED:
            return False
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{config.decode()}")
        found = self.logits()
        with torch.no_grad():
            expected = model(found["tokens"], use_cache=False).logits.double()
        far = (found["logits"] - expected).norm() / expected.norm()
        self.assertLessEqual(far.item(), TOLERANCE, config.decode())
        return True

    def test_executed_are_the_models_of_files(self) -> None:
        executed = 0
        for model_type, entry in TYPES.items():
            if "unread" in entry:
                continue
            with self.subTest(model_type):
                tries = (f"{one}" for one in range(TRIES))
                executed += any(self.compared(model_type, seed) for seed in tries)
        self.assertGreater(executed, 60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
