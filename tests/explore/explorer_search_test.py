"""Searches and whole runs in the explorer."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import explorer
from browser_test import seconds
from explorer_case import (
    JOB,
    PAGE,
    PRESS,
    REFUSED,
    SET_AT,
    UNFOLD,
    ExplorerCase,
    at_place,
    link,
    main,
)

# Examples, and what their searches may choose besides.
SEARCHED = [
    ("long-context.yaml", ""),
    ("mixtral-8x7b.yaml", ""),
    ("llama-3-70b.yaml", "framework: megatron-core\n"),
    (
        "inline-model.yaml",
        """search:
  recompute: [{modules: [norm, mlp]}, {every: 2}]
  schedule: [1f1b, zb-h1]
  context_kind: [ulysses, all-gather]
  overlap: [{tensor: true, pipeline: false}]
  accumulate: bf16
  rank_order: tp-cp-ep-pp-dp
""",
    ),
    ("llama-3-70b.yaml", "search: {schedule: [v-half, zb-v], pipeline: 4, tensor: 8}\n"),
    (
        "llama-3-70b.yaml",
        """precision: fp8
optimizer: muon
search: {schedule: [1f1b-vocab, vocab-1, vocab-2], pipeline: 4, sharding: [ddp, zero1]}
""",
    ),
    (
        "llama-3-70b.yaml",
        "search: {offload: {optimizer: 0.5, activations: [[core_attn]]}, tensor: 4}\n",
    ),
    (
        "mixtral-8x7b.yaml",
        "search: {schedule: [dualpipev, paired], overlap: [{expert: true}], pipeline: 4}\n",
    ),
    (
        "llama-3-70b.yaml",
        """framework: torchtitan
search: {sharding: [zero3, hsdp], pipeline: 1, recompute: [full, per-operator]}
""",
    ),
]


class Searches(ExplorerCase):
    def test_listed_plans_of_a_search_can_be_set_by_hand(self):
        """By the controls alone, and they take the time that the search says."""
        places = {}
        for name, more in SEARCHED:
            job = PAGE.parent / "searched.yaml"
            text = (Path("examples") / name).read_text(encoding="utf-8") + more
            job.write_text(text, encoding="utf-8")
            answer = self.command("tune", job, "--top", "2")
            job.unlink()
            self.open(link(text))
            places = self.tab.evaluate(
                "[...document.querySelectorAll('[data-place]')].map(part => part.dataset.place)"
            )
            for listed in [*answer["plans"], *answer["alternatives"][:2]]:
                with self.subTest(f"{name}: {listed['plan']}"):
                    self.set_by_hand(listed, places)

    def set_by_hand(self, listed: dict, places: list):
        plan = listed["plan"]
        for _ in range(2):  # what was set first may have followed what was set later
            for place in places:
                if (value := at_place(plan, place)) is not None:
                    self.choose_at(place, value)
        self.assertFalse(self.tab.evaluate(REFUSED), self.said(".message"))
        for place in places:
            self.assertEqual(at_place(self.plan(), place), at_place(plan, place), place)
        self.assertIn(seconds(listed["step_time_s"]), self.said(".tiles"))

    def test_a_search_finds_the_best_plan_while_the_page_lives(self):
        self.open(link(json.dumps(JOB)))
        self.press("Find the best plan")
        self.drag("Micro-batch", 1)
        self.wait_for("document.querySelector('.found ol') !== null")
        job = PAGE.parent / "explored.json"
        job.write_text(json.dumps(JOB), encoding="utf-8")
        done = subprocess.run(
            [explorer.COMMAND, "study", "search", job, "--json"], capture_output=True, check=True
        )
        job.unlink()
        best = json.loads(done.stdout)["choices"][0]
        self.assertIn(seconds(best["step_time_s"]), self.said(".found li"))
        self.check()

    def test_a_search_leaves_a_job_that_a_person_has_gone_on_to(self):
        self.open(link(json.dumps(JOB)))
        self.press("Find the best plan")
        self.choose("Sequences in a batch", 64)
        self.wait_for("document.querySelector('.found ol') !== null")
        self.settle()
        self.assertEqual(self.plan()["job"]["batch"]["sequences"], 64)
        self.assertIn("as it was when the search began", self.said(".found"))
        self.do(PRESS % self.said(".found li button"))
        self.assertEqual(self.plan()["job"]["batch"]["sequences"], 32)

    def test_the_whole_run_is_that_of_the_command(self):
        self.open()
        self.tab.evaluate(UNFOLD)
        for place, value in (("tokens", 15e12), ("restart", "20min"), ("storage", "50GB/s")):
            self.tab.evaluate(SET_AT % (json.dumps(f"job.run.{place}"), json.dumps(value)))
            self.settle()
        self.tab.evaluate(SET_AT % ('"job.run.checkpoints"', '"asynchronous"'))
        self.settle()
        plan = PAGE.parent / "run.json"
        plan.write_text(json.dumps(self.plan()), encoding="utf-8")
        told = self.command("run", plan)
        plan.unlink()
        self.assertEqual(told["tokens"], 15e12)
        self.assertIn("15T tokens take", self.said(".tiles"))
        for days in (told["days"], told["low"]["days"], told["high"]["days"]):
            self.assertIn(f"{round(days):,} days", self.said(".tiles"))
        self.tab.evaluate(SET_AT % ('"job.run.tokens"', '""'))
        self.settle()
        self.assertNotIn("tokens", self.plan()["job"]["run"])
        self.assertIn("1T tokens take", self.said(".tiles"))

    def test_a_search_can_be_stopped(self):
        self.open()
        self.press("Find the best plan")
        self.press("Stop the search")
        self.assertEqual(self.said(".found"), "")
        self.drag("Tensor parallel", 0)
        self.check()


if __name__ == "__main__":
    main()
