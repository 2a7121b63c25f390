"""What a person sets in the explorer, and what it says of the plan."""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import explorer
from browser_test import ROWS, gibibytes, seconds
from explorer_case import (
    ALL_CONTROLS,
    CONTROL,
    JOB,
    PAGE,
    PRESS,
    REFUSED,
    SET,
    STAGES,
    UNFOLD,
    ExplorerCase,
    at_place,
    link,
    main,
)

PLAN = "examples/llama-3-70b.plan.yaml"
# One value of each choice that a search leaves at its default, beside those that it makes.
BY_HAND = {
    "job.optimizer": "adamw",
    "job.kernels.attention": "flash2",
    "job.kernels.fused_norm": False,
    "job.kernels.cross_entropy": "compiled",
    "job.kernels.masters": "alone",
    "job.host_threads": 8,
    "parallel.context": 2,
    "context_kind": "all-gather",
    "overlap": {
        "gradients": False,
        "parameters": True,
        "tensor": True,
        "tensor_gradients": False,
        "context": False,
        "expert": False,
        "shared_experts": False,
        "pipeline": True,
    },
    "recompute": {"modules": ["mlp", "norm"], "every": 3},
    "accumulate": "bf16",
    "collectives.data": "ring",
    "buckets.gradients": 20_000_000,
    "rank_order": "cp-tp-ep-dp-pp",
    "offload.optimizer": 0.5,
    "offload.activations": ["core_attn", "mlp_act"],
}
SMALL = {
    "stepwright": "plan/2",
    "job": {key: value for key, value in JOB.items() if key != "stepwright"},
    "parallel": {"tensor": 1, "pipeline": 4, "data": 2},
    "sharding": "zero1",
}
OVERHEAR = """window.asked = [];
(post => {
  Worker.prototype.postMessage = function (question) {
    window.asked.push(question);
    post.call(this, question);
  };
})(Worker.prototype.postMessage)"""
# Keeps what pictures say.
READ = """window.written = [];
(draw => {
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.written.push(text);
    draw.call(this, text, ...place);
  };
})(CanvasRenderingContext2D.prototype.fillText)"""
VISIBLE_AT = "document.querySelector('[data-place=\"%s\"]').checkVisibility()"


class Plans(ExplorerCase):
    def test_says_what_the_command_says(self):
        for file in (PLAN, "examples/tiny-moe.plan.yaml"):
            done = subprocess.run(
                [explorer.COMMAND, "predict", file, "--json"], capture_output=True, check=True
            )
            told = json.loads(done.stdout)
            self.open(link(Path(file).read_text(encoding="utf-8")))
            self.assertIn(seconds(told["step_time_s"]), self.said(".tiles"))
            self.assertIn(f"{round(told['tokens_per_s_per_device']):,} tokens/s", self.said(".bar"))
            peaks = self.tab.evaluate(ROWS % '"Memory of each stage at its peak, by kind"')
            for row, stage in zip(peaks, told["stages"], strict=True):
                if stage["peak_memory_bytes"] > 2**30:
                    self.assertEqual(row[-1], gibibytes(stage["peak_memory_bytes"]))

    def test_what_is_dragged_changes_plan_and_pictures(self):
        self.open()
        nodes = 8
        for name, key in (("Tensor", "tensor"), ("Pipeline", "pipeline"), ("Context", "context")):
            before, ink = self.plan(), self.check()
            place = 0 if before["parallel"][key] > 1 else 1
            self.drag(f"{name} parallel", place)
            after = self.plan()
            self.assertNotEqual(after["parallel"][key], before["parallel"][key])
            degrees = {k: after["parallel"][k] for k in ("tensor", "pipeline", "context", "data")}
            ranks = 1
            for degree in degrees.values():
                ranks *= degree
            self.assertEqual(ranks, 8 * nodes, degrees)
            if not self.tab.evaluate(REFUSED):
                self.assertNotEqual(self.check(), ink)

    def test_data_parallelism_takes_nodes(self):
        self.open()
        before = self.plan()
        self.drag("Data parallel", 0)
        after = self.plan()
        data = (before["parallel"]["data"], after["parallel"]["data"])
        self.assertNotEqual(*data)
        nodes = (before["job"]["cluster"]["nodes"], after["job"]["cluster"]["nodes"])
        self.assertEqual(nodes[0] * data[1], nodes[1] * data[0])

    def test_every_word_can_be_chosen(self):
        self.open()
        for name, value, key in (
            ("Sharding", "GGG", "sharding"),
            ("Recompute", "full", "recompute"),
            ("Schedule", "zb-h1", "schedule"),
        ):
            self.choose(name, value)
            self.assertIn(value, json.dumps(self.plan()[key]))
        self.choose("Model", "llama-3-8b")
        self.choose("Cluster", "dgx-a100-80g")
        self.choose("Nodes", 2)
        self.choose("Tokens of a sequence", 4096)
        job = self.plan()["job"]
        self.assertEqual(job["model"], "llama-3-8b")
        self.assertEqual(job["cluster"], {"profile": "dgx-a100-80g", "nodes": 2})
        self.assertEqual(job["batch"]["length"], 4096)
        self.check()

    def test_an_order_is_found_once(self):
        self.open()
        self.tab.evaluate(OVERHEAR)
        self.choose("Schedule", "auto")
        self.press("Every picture")
        self.wait_for("document.getElementById('what-if') !== null")
        asked = self.tab.evaluate("window.asked")
        self.assertEqual([each["ask"] for each in asked], ["predict", "timeline", "pictures"])
        schedules = [json.loads(each["text"])["schedule"] for each in asked]
        self.assertEqual(schedules[0]["kind"], "auto")
        self.assertNotIn("durations_ns", schedules[0])
        for found in schedules[1:]:
            self.assertTrue(found["kind"] != "auto" or "durations_ns" in found, found)
        self.assertEqual(self.plan()["schedule"]["kind"], "auto")

    def test_an_order_is_found_in_a_placement(self):
        self.open(link(json.dumps(SMALL)))
        placement = (
            "document.querySelector('[data-place=\"schedule.placement\"]').checkVisibility()"
        )
        self.tab.evaluate(ALL_CONTROLS)
        self.assertFalse(self.tab.evaluate(placement))
        self.choose("Schedule", "auto")
        self.assertTrue(self.tab.evaluate(placement))
        for word in ("cyclic", "v"):
            self.choose("Placement of the chunks", word)
            schedule = self.plan()["schedule"]
            self.assertEqual((schedule["placement"], schedule["chunks"]), (word, 2))
            self.assertFalse(self.tab.evaluate(REFUSED), self.said(".message"))
            self.assertIn(f"an order found with placement {word}", self.said("#notes"))
        self.choose_at("schedule.chunks", 1)
        self.assertNotIn("placement", self.plan()["schedule"])
        self.assertFalse(self.tab.evaluate(REFUSED), self.said(".message"))

    def test_a_timeline_says_what_waits_and_numbers_are_whole(self):
        waiting = "Waiting for messages, hosts or other stages"
        alone = {"parallel": {"data": 8}, "sharding": "zero3", "overlap": False}
        self.open(link(json.dumps(SMALL | alone)))
        self.tab.evaluate(READ)
        self.choose_at("micro_batch", 2)
        self.assertIn(waiting, self.tab.evaluate("window.written"))
        self.open(link(json.dumps(SMALL)))
        self.tab.evaluate(READ)
        self.choose("Recompute", "selective")
        self.assertLessEqual({waiting, "9", "10", "15"}, set(self.tab.evaluate("window.written")))
        self.choose("Schedule", "vocab-1")
        written = self.tab.evaluate("window.written")
        self.assertIn("Embedding and head, shared by stages", written)
        self.choose("Schedule", "1f1b")
        self.choose_at("offload.activations", ["core_attn"])
        streams = "document.querySelector('#timeline select')"
        self.tab.evaluate(SET % ('"0"', "change", streams))
        self.assertIn("Copies to and from hosts", self.tab.evaluate("window.written"))

    def test_a_plan_that_no_rule_allows_is_told_with_legal_ones(self):
        text = Path(PLAN).read_text(encoding="utf-8")
        bad = re.sub(r"tensor: \d+", "tensor: 3", text, count=1)
        self.open(link(bad))
        self.assertIn("world-size", self.said(".message"))
        self.do(PRESS % "Take ")
        self.assertFalse(self.tab.evaluate(REFUSED))
        self.check()

    def test_every_choice_is_taken_as_it_is_set(self):
        self.open()
        for place, value in BY_HAND.items():
            self.choose_at(place, value)
            self.assertEqual(at_place(self.plan(), place), value, place)
        self.assertFalse(self.tab.evaluate(REFUSED), self.said(".message"))
        self.says_what_predict_says()

    def test_stages_recompute_unlike_the_others(self):
        self.open(link(json.dumps(STAGES)))
        for wanted in (
            {"every": 1, "stages": {"3": "none"}},
            {"every": 4, "stages": {"0": "full", "2": {"modules": ["mlp", "norm"], "every": 2}}},
        ):
            self.choose_at("recompute", wanted)
            for stage in set(self.plan()["recompute"]["stages"]) - set(wanted["stages"]):
                self.do(PRESS % f"Stage {stage} as the others")
            self.assertEqual(self.plan()["recompute"], wanted)
            self.says_what_predict_says()

    def says_what_predict_says(self):
        """Of the plan in the address."""
        plan = PAGE.parent / "by_hand.json"
        plan.write_text(json.dumps(self.plan()), encoding="utf-8")
        told = self.command("predict", plan)
        plan.unlink()
        self.assertIn(seconds(told["step_time_s"]), self.said(".tiles"))

    def test_muon_has_its_form(self):
        self.open()
        form = VISIBLE_AT % "job.muon"
        self.tab.evaluate(ALL_CONTROLS)
        self.tab.evaluate(UNFOLD)
        self.assertFalse(self.tab.evaluate(form))
        self.choose_at("job.optimizer", "muon")
        self.assertTrue(self.tab.evaluate(form))
        before = self.said(".tiles")
        self.choose_at("job.muon", "blockwise")
        self.assertEqual(self.plan()["job"]["muon"], "blockwise")
        self.assertNotEqual(self.said(".tiles"), before)

    def test_another_framework_begins_with_its_own_defaults(self):
        self.open()
        self.do(SET % ('"megatron-core"', "change", CONTROL % "Framework"))
        plan = self.plan()
        self.assertEqual(plan["job"]["framework"], "megatron-core")
        self.assertTrue(plan["job"]["kernels"]["transformer_engine"])
        self.do(SET % ('""', "change", CONTROL % "Framework"))
        self.assertNotIn("framework", self.plan()["job"])

    def test_a_release_has_its_own_defaults(self):
        self.open()
        self.choose("Framework", "torchtitan")
        self.assertEqual(self.plan()["job"]["kernels"]["attention"], "flash3")
        self.choose("Release of the framework", "0.2.2")
        told = self.plan()["job"]
        self.assertEqual(told["framework"], {"name": "torchtitan", "version": "0.2.2"})
        self.assertEqual(told["kernels"]["attention"], "cudnn")
        self.choose("Release of the framework", "")
        self.assertEqual(self.plan()["job"]["framework"], "torchtitan")

    def test_nodes_are_used_in_part(self):
        self.open()
        self.choose("GPUs used of each node", 4)
        told = self.plan()
        self.assertEqual(told["job"]["cluster"]["devices_per_node"], 4)
        degrees = told["parallel"]
        used = degrees["tensor"] * degrees["context"] * degrees["pipeline"] * degrees["data"]
        self.assertEqual(used, 4 * told["job"]["cluster"]["nodes"])
        self.choose("GPUs used of each node", 8)
        self.assertNotIn("devices_per_node", self.plan()["job"]["cluster"])

    def test_the_critical_stage_follows_the_plan(self):
        for layers, critical in (([32, 16, 16, 16], 0), ([16, 16, 16, 32], 3)):
            plan = STAGES | {"layers": layers}
            self.open(link(json.dumps(plan)))
            self.assertIn(f"Stage {critical} is the critical one", self.said("#time"))
            self.choose_at("layers", layers[::-1])
            self.assertIn(f"Stage {3 - critical} is the critical one", self.said("#time"))
            self.assertIn(f"Stage {3 - critical} is the fullest", self.said("#memory"))

    def test_what_does_not_fit_is_said_with_its_stage_and_by_how_much(self):
        plan = STAGES | {"micro_batch": 8, "recompute": "none"}
        self.open(link(json.dumps(plan)))
        file = PAGE.parent / "misfit.json"
        file.write_text(json.dumps(self.plan()), encoding="utf-8")
        told = self.command("memory", file)
        file.unlink()
        self.assertFalse(told["fits"])
        peaks = [stage["peak_memory_bytes"] for stage in told["stages"]]
        usable = gibibytes(told["capacity_bytes"] - told["reserve_bytes"])
        needs = f"Out of memory: needs {gibibytes(max(peaks))}, {usable} usable"
        self.assertIn(needs, self.said(".bar"))
        self.assertIn(needs, self.said("#memory"))
        self.assertIn(f"Stage {peaks.index(max(peaks))} is the fullest", self.said("#memory"))
        self.assertIn("Out of memory", self.said(".tiles"))


if __name__ == "__main__":
    main()
