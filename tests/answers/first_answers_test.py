"""The first answer of `tune` on random jobs: exported without an option and imported again, it is
the same plan at the same price, and it fits.

STEPWRIGHT_COMMAND names the command, STEPWRIGHT_JOBS how many jobs, STEPWRIGHT_SEED the first seed.
"""

import json
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
USUAL_JOBS = 3
MODELS = [
    "qwen3-0.6b",
    "llama-3.2-1b",
    "qwen2.5-3b",
    "qwen3-4b",
    "llama-3.1-8b",
    "mistral-7b",
    "qwen3-14b",
    "qwen2.5-32b",
    "llama-3-70b",
    "gemma-2-9b",
    "llama-3.1-405b",
    "qwen2.5-72b",
    "olmo-2-7b",
    "mixtral-8x7b",
    "qwen3-30b-a3b",
    "qwen3-235b-a22b",
    "olmoe-1b-7b",
    "deepseek-v3",
    "gpt-oss-20b",
    "mixtral-8x22b",
    "glm-4.5-air",
]
# Bytes of a device.
PROFILES = {
    "dgx-a100-80g": 80e9,
    "dgx-h100": 80e9,
    "dgx-b200": 180e9,
    "mi300x-8gpu": 192e9,
    "rtx4090-8gpu-pcie": 24e9,
}
# Bytes of a parameter with its states and room beside them, and the most devices of a job.
KINDS = {"pretrain": (29, 2048), "lora": (8, 256), "dpo": (29, 256), "image": (29, 256)}
KINDS |= {"grpo": (29, 512), "ppo": (64, 512)}
ENCODER = {
    "name": "clip_vision_model",
    "parameters": 303507456,
    "projector": 20979712,
    "patches": 576,
    "tokens": 576,
    "flops": 4.0608e11,
    "layers": 24,
    "hidden": 1024,
    "heads": 16,
    "ffn": 4096,
}
ADAPTERS = ("all", ["q", "v"], ["q", "k", "v", "projection"])


def run(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


def parameters() -> dict[str, int]:
    listed = json.loads(run("list", "models", "--json").stdout)
    return {model["name"]: model["parameters"] for model in listed}


def random_job(seed: int, sizes: dict[str, int]) -> dict:
    """A job whose states have room on its devices."""
    dice = random.Random(seed)
    kind = dice.choice(list(KINDS))
    each, most = KINDS[kind]
    while True:
        model = dice.choice(["llama-2-7b", "qwen2.5-3b"] if kind == "image" else MODELS)
        profile = dice.choice(list(PROFILES))
        devices = dice.choice([8, 16, 32, 64, 128, 256, 512, 1024, 2048])
        room = devices * PROFILES[profile]
        if devices <= most and each * sizes[model] < room < 400 * sizes[model]:
            break
    batch = {"sequences": max(devices, dice.choice([64, 128, 256, 512]))}
    batch["length"] = dice.choice([2048, 4096, 8192])
    job = {"stepwright": "job/2", "model": model, "batch": batch}
    job["cluster"] = {"profile": profile, "nodes": devices // 8}
    if kind == "lora" or (kind in ("dpo", "grpo", "ppo") and dice.random() < 0.3):
        job["adapters"] = {"rank": dice.choice([8, 64]), "targets": dice.choice(ADAPTERS)}
    if kind == "image":
        job |= {"model": {"base": model, "name": "seer", "encoder": ENCODER}, "frozen": ["encoder"]}
        batch["images"] = 1
    if kind in ("dpo", "grpo", "ppo"):
        job["objective"] = {"kind": kind}
    if kind in ("grpo", "ppo") and dice.random() < 0.6:
        job["objective"]["rollout"] = {"tokens_per_s": 1800, "prompt": 256}
    return job


class FirstAnswers(unittest.TestCase):
    def answer_of(self, job: dict, folder: Path) -> None:
        (folder / "job.yaml").write_text(json.dumps(job))
        plan = folder / "plan.yaml"
        answer = run("tune", folder / "job.yaml", "--json", "-o", plan)
        self.assertTrue(answer.stdout, answer.stderr)
        said = json.loads(answer.stdout)
        first = said["plans"][0]
        self.assertTrue(first["fits"])
        self.assertTrue(first["export"], said["refusals"])
        target = first["export"].split()[3]
        written = folder / "written"
        export = run("export", "--to", target, "--plan", plan, "-o", written)
        self.assertEqual(export.returncode, 0, export.stderr)
        named = written.rename(folder / f"started.{self.ending(written.read_text())}")
        (folder / "model.yaml").write_text(json.dumps(job["model"]))
        inline = isinstance(job["model"], dict)
        there = "{profile}:{nodes}".format(**job["cluster"])
        words = ["--model", folder / "model.yaml" if inline else job["model"], "--cluster", there]
        back = folder / "back.yaml"
        read = run("import", named, "--from", target, *words, "-o", back)
        self.assertEqual(read.returncode, 0, read.stderr)
        times = [json.loads(run("predict", one, "--json").stdout) for one in (plan, back)]
        for one in times:
            self.assertAlmostEqual(one["step_time_s"] / first["step_time_s"], 1, delta=1e-6)

    @staticmethod
    def ending(text: str) -> str:
        if text.startswith("#!"):
            return "sh"
        if text.lstrip().startswith("{"):
            return "json"
        return "py" if "\nimport " in text or "\nfrom " in text else "yml"

    def test_start_as_they_are(self):
        sizes = parameters()
        seed = int(os.environ.get("STEPWRIGHT_SEED", "1"))
        for number in range(seed, seed + int(os.environ.get("STEPWRIGHT_JOBS", USUAL_JOBS))):
            job = random_job(number, sizes)
            with tempfile.TemporaryDirectory() as folder, self.subTest(seed=number, job=job):
                self.answer_of(job, Path(folder))


if __name__ == "__main__":
    unittest.main(verbosity=2)
