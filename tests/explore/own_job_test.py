"""A person brings a job of their own to the built explorer and leaves with a launch file, in a
headless Chromium. Skipped where the page was not built, or where there is no browser. Runs in the
root of the repository."""

import gzip
import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import browser
import explorer
import own_engine
from browser_test import seconds, violations

PAGE, KIND = own_engine.page_and_browser()
# Llama 3 8B, as its repository on Hugging Face has it.
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
SCRIPT = """#!/bin/bash
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py \\
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336 \\
  --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm \\
  --untie-embeddings-and-output-weights --disable-bias-linear --vocab-size 128256 \\
  --position-embedding-type rope --max-position-embeddings 8192 --seq-length 8192 \\
  --tensor-model-parallel-size 4 --sequence-parallel --micro-batch-size 1 \\
  --global-batch-size 128 --use-distributed-optimizer --bf16 --lr 3e-4
"""
MOST_CLICKS = 10
MOST_SECONDS = 60
ANSWERED = "document.documentElement.dataset.answered"
SETTLED = "document.documentElement.dataset.thinking === undefined && " + ANSWERED
BUTTON = "[...document.querySelectorAll('button')].find(one => one.textContent.startsWith('%s'))"
OWN = "document.querySelector('.own-job > summary')"
FIELD = "document.getElementById('own-%s')"
TOLD = "document.querySelector('#launch-file [role=status]').innerText"
SPOT = """(part => {
  part.scrollIntoView({block: 'center', behavior: 'instant'});
  const box = part.getBoundingClientRect();
  const spot = {x: box.x + Math.min(box.width / 2, 40), y: box.y + box.height / 2};
  return part.contains(document.elementFromPoint(spot.x, spot.y)) ? spot : null;
})(%s)"""


class OwnJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tab = cls.enterClassContext(KIND())
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def setUp(self):
        self.tab.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder)
        )
        self.clicks = 0
        self.tab.open(PAGE)
        self.wait_for(SETTLED)

    def wait_for(self, expression: str):
        """Its value once it holds; the time limit of the test ends what never does."""
        while not (value := self.tab.evaluate(expression)):
            self.assertEqual(self.tab.messages, [])
            time.sleep(0.02)
        return value

    def click(self, part: str):
        """Clicks with the mouse on an element that is in sight."""
        self.wait_and_name(part)
        while (spot := self.tab.evaluate(SPOT % part)) is None:  # the page is being laid out
            time.sleep(0.02)
        for kind in ("mousePressed", "mouseReleased"):
            self.tab.call(
                "Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **spot
            )
        self.clicks += 1

    def wait_and_name(self, part: str) -> str:
        self.wait_for(f"({part})?.checkVisibility()")
        return part

    def type(self, part: str, text: str):
        """Clicks into a field, types and leaves it by Tab."""
        self.click(part)
        self.tab.evaluate(f"({part}).select?.()")
        self.tab.call("Input.insertText", text=text)
        for kind in ("keyDown", "keyUp"):
            self.tab.call("Input.dispatchKeyEvent", type=kind, key="Tab", windowsVirtualKeyCode=9)

    def give(self, *files: Path):
        """Chooses files in the browser's dialog: a click on its button, one on its end."""
        found = self.tab.call("Runtime.evaluate", expression="document.querySelector('.own-files')")
        names = [str(file) for file in files]
        self.tab.call("DOM.setFileInputFiles", files=names, objectId=found["result"]["objectId"])
        self.clicks += 2

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def said(self) -> str:
        return self.tab.evaluate("document.querySelector('.own-job [role=status]').innerText")

    def downloaded(self, name: str) -> str:
        path = self.folder / name
        while not path.exists() or path.stat().st_size == 0:
            self.assertEqual(self.tab.messages, [])
            time.sleep(0.02)
        return path.read_text(encoding="utf-8")

    def command(self, *arguments) -> dict:
        done = subprocess.run(
            [explorer.COMMAND, *arguments, "--json"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(explorer.PAGE.exists(), "the page was not built (make engine)")
    def test_the_page_is_small_enough_to_send(self):
        page = explorer.PAGE.read_bytes()
        packed = len(gzip.compress(page, 9))
        print(f"{len(page) / 1e6:.2f} MB, {packed / 1e6:.2f} MB compressed")
        self.assertLessEqual(len(page), 4.5e6)
        self.assertLessEqual(packed, 2.5e6)

    def test_from_a_config_and_64_gpus_to_a_megatron_script(self):
        began = time.monotonic()
        config = self.file("config.json", json.dumps(CONFIG))
        self.click(OWN)
        self.give(config)
        self.wait_for("document.querySelector('.own-job [role=status]').innerText.length > 0")
        self.wait_for(SETTLED)
        self.type(FIELD % "cluster-devices", "64")
        self.wait_for("document.querySelector('.own-job').innerText.includes('8 nodes of 8')")
        self.wait_for(SETTLED)
        self.click(BUTTON % "Download")
        if "does not run this plan" in self.wait_for(TOLD):
            self.click(BUTTON % "Download the nearest plan")
        script = self.downloaded("megatron.sh")
        took = time.monotonic() - began
        print(f"{self.clicks} clicks, {took:.1f} s")
        self.assertLessEqual(self.clicks, MOST_CLICKS)
        self.assertLess(took, MOST_SECONDS)
        for argument in ("--num-layers 32", "--hidden-size 4096", "--num-query-groups 8"):
            self.assertIn(argument, " ".join(script.split()))
        told = self.command("import", self.folder / "megatron.sh", "--cluster", "dgx-h100")
        self.assertEqual(told["plan"]["job"]["cluster"]["nodes"], 8)
        self.assertIn(
            "8,030,261,248", self.tab.evaluate("document.querySelector('.own-job').textContent")
        )

    def test_a_script_that_is_pasted_is_read_as_the_command_reads_it(self):
        self.click(OWN)
        paste = "document.querySelector('.own-job textarea')"
        self.tab.evaluate(f"""(part => {{
          part.value = {json.dumps(SCRIPT)};
          part.dispatchEvent(new Event('change'));
        }})({paste})""")
        self.wait_for("document.querySelector('.own-job').innerText.includes('Megatron-LM')")
        self.wait_for(SETTLED)
        script = self.file("train.sh", SCRIPT)
        told = self.command("import", script, "--cluster", "dgx-h100")
        said = self.said()
        for key, name in (("read", "Read"), ("assumed", "Assumed")):
            self.assertIn(f"{name}: {len(told[key])}", said)
        self.assertIn("16 x h100", self.tab.evaluate("document.querySelector('.lead').innerText"))

    def test_a_failure_stands_beside_its_field(self):
        self.click(OWN)
        self.give(self.file("config.json", json.dumps(CONFIG)))
        self.wait_for("document.querySelector('.own-job [role=status]').innerText.length > 0")
        self.wait_for(SETTLED)
        self.type(FIELD % "batch-length", "some")
        invalid = f"({FIELD % 'batch-length'}).getAttribute('aria-invalid') === 'true'"
        self.wait_for(invalid)
        error = self.tab.evaluate("document.getElementById('own-batch-length-error').innerText")
        self.assertTrue(error.startswith("must"), error)
        self.type(FIELD % "batch-length", "4k")
        self.wait_for(f"!({invalid})")

    def test_what_is_no_known_file_is_told(self):
        self.click(OWN)
        self.give(self.file("notes.yaml", "shopping: [milk, bread]\n"))
        failed = "document.querySelector('.own-job > [role=alert]')"
        self.wait_for(f"!({failed}).hidden")
        self.assertIn("its content does not show", self.tab.evaluate(f"({failed}).innerText"))

    def test_a_plan_that_does_not_fit_has_ways_on(self):
        plan = {
            "stepwright": "plan/2",
            "job": {
                "model": "llama-3-8b",
                "cluster": {"profile": "dgx-h100", "nodes": 1},
                "batch": {"sequences": 64, "length": 8192},
            },
            "parallel": {"data": 8},
            "sharding": "ddp",
            "recompute": "none",
        }
        self.click(OWN)
        self.give(self.file("plan.json", json.dumps(plan)))
        ways = "document.querySelector('.ways')"
        for name in ("Nearest plan that fits", "Smallest cluster that fits", "Changes that let it"):
            self.wait_for(f"({BUTTON % name})?.checkVisibility()")
        self.click(BUTTON % "Nearest plan that fits")
        self.click(BUTTON % "Take ")
        self.wait_for(f"({ways}).hidden")
        self.wait_for(SETTLED)
        self.assertIn("Fits: ", self.tab.evaluate("document.querySelector('.bar').innerText"))

    def test_a_way_out_shows_how_far_its_search_is_and_can_be_stopped(self):
        plan = {
            "stepwright": "plan/2",
            "job": {
                "model": "llama-3.1-405b",
                "cluster": {"profile": "dgx-h100", "nodes": 8},
                "batch": {"sequences": 256, "length": 8192},
            },
            "parallel": {"tensor": 8, "data": 8},
            "sharding": "zero1",
        }
        self.click(OWN)
        self.give(self.file("plan.json", json.dumps(plan)))
        self.wait_for(f"({BUTTON % 'Smallest cluster that fits'})?.checkVisibility()")
        self.wait_for(SETTLED)
        self.click(BUTTON % "Smallest cluster that fits")
        bar = "document.querySelector('.ways progress[value]')"
        self.wait_for(f"{bar} !== null")
        self.assertGreater(float(self.tab.evaluate(f"{bar}.max")), 0)
        self.assertEqual(violations(self.tab), [])
        self.click(BUTTON % "Stop")
        told = "document.querySelector('.ways [role=status]').innerText"
        self.assertEqual(self.tab.evaluate(told), "Smallest cluster that fits: stopped.")
        self.assertFalse(self.tab.evaluate("document.querySelector('.ways progress') !== null"))

    def test_check_says_whether_a_plan_starts_and_what_is_faster(self):
        plan = {
            "stepwright": "plan/2",
            "job": {
                "model": "llama-3-8b",
                "cluster": {"profile": "dgx-h100", "nodes": 1},
                "batch": {"sequences": 64, "length": 4096},
                "kernels": {"attention": "flash3"},
            },
            "parallel": {"data": 8},
            "sharding": "zero3",
            "recompute": "full",
        }
        file = self.file("plan.json", json.dumps(plan))
        told = self.command("check", file)
        self.click(OWN)
        self.assertTrue(self.tab.evaluate(f"({BUTTON % 'Check these files'}).disabled"))
        self.give(file)
        self.wait_for("document.querySelector('.own-job [role=status]').innerText.length > 0")
        self.wait_for(SETTLED)
        rows = "document.querySelectorAll('%s tbody tr').length"
        for button, part in (("Check this plan", "#check"), ("Check these files", ".own-job")):
            self.click(BUTTON % button)
            self.wait_for(f"document.querySelector('{part}').innerText.includes('It starts.')")
            said = self.tab.evaluate(f"document.querySelector('{part}').innerText")
            self.assertIn(f"A faster plan saves {100 * told['gain']:.1f}% of the step", said)
        self.assertEqual(self.tab.evaluate(rows % "#check"), len(told["gains"]))
        self.assertEqual(violations(self.tab), [])
        self.tab.evaluate(f"delete {ANSWERED}")
        last = "[...document.querySelectorAll('#check tbody button')].at(-1)"
        self.click(last)
        self.wait_for(SETTLED)
        step = seconds(told["gains"][-1]["step_time_s"])
        self.assertIn(step, self.tab.evaluate("document.querySelector('.tiles').innerText"))

    def test_a_framework_that_cannot_run_a_plan_says_so_and_offers_one(self):
        plan = {
            "stepwright": "plan/2",
            "job": {
                "model": "llama-3-8b",
                "cluster": {"profile": "dgx-h100", "nodes": 1},
                "batch": {"sequences": 64, "length": 4096},
                "framework": "megatron-core",
            },
            "parallel": {"pipeline": 4, "data": 2},
            "schedule": "zb-h1",
            "sharding": "zero1",
            "recompute": "full",
        }
        self.click(OWN)
        self.give(self.file("plan.json", json.dumps(plan)))
        self.wait_for("!document.querySelector('.badge').hidden")
        self.wait_for(SETTLED)
        said = self.tab.evaluate("document.querySelector('.badge').innerText")
        self.assertIn("megatron-core cannot run this plan: schedule zb-h1", said)
        self.click(BUTTON % "Use ")
        self.wait_for("document.querySelector('.badge').hidden")


if __name__ == "__main__":
    if PAGE is None or browser.found() is None:
        print("skipped:", explorer.PAGE, "or a browser is not there (make engine)")
        sys.exit(77)
    unittest.main()
