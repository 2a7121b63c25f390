"""The explorer in a headless Chromium: as it was built, as a file and as `stepwright serve` gives
it; where it was not built, its page over the engine compiled for this machine. Skipped where there
is no browser. Tests run in the root of the repository."""

import base64
import itertools
import json
import subprocess
import sys
import time
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import explorer
import own_engine
from browser_test import check_view

PAGE, KIND = own_engine.page_and_browser()
JOB = {
    "stepwright": "job/2",
    "model": "llama-3-8b",
    "cluster": {"profile": "dgx-h100", "nodes": 1},
    "batch": {"sequences": 32, "length": 2048},
}
MODULES = ("core_attn", "mlp", "moe", "moe_act", "norm", "mla_up_proj", "shared_experts")
STAGES = {
    "stepwright": "plan/2",
    "job": {
        "model": "llama-3-70b",
        "cluster": {"profile": "dgx-h100", "nodes": 8},
        "batch": {"sequences": 512, "length": 8192},
    },
    "parallel": {"tensor": 8, "pipeline": 4, "data": 2},
    "sequence_parallel": True,
    "sharding": "zero1",
    "recompute": "full",
}
CONTROL = "document.querySelector('.panel [aria-label=\"%s\"]')"
SET = """(control => {
  control.value = %s; control.dispatchEvent(new Event('%s'));
})(%s)"""
PRESS = (
    "[...document.querySelectorAll('button')].find(one => one.textContent.startsWith('%s')).click()"
)
# Sets the control at a place of plan files to a value, as a person would.
SET_AT = """((place, value) => {
  const part = document.querySelector(`[data-place="${place}"]`);
  const tell = (control, kind) => control.dispatchEvent(new Event(kind));
  const check = (box, on) => {
    if (box.checked !== on) { box.checked = on; tell(box, 'change'); }
  };
  const [control] = part.querySelectorAll('input, select');
  if (control.type === 'range') {
    for (let i = 0; i <= control.max; i += 1) {
      control.value = i;
      tell(control, 'input');
      if (part.querySelector('output').textContent === String(value)) return;
    }
    throw new Error(`${place} cannot be ${value}`);
  }
  if (control.type === 'checkbox') return check(control, value);
  control.value = Array.isArray(value) ? value.join(', ') : value;
  tell(control, 'change');
})(%s, %s)"""
BOXES = """[...document.querySelectorAll('[data-place=%s] input')].map(box =>
  box.dataset.value)"""
CHECK = """(box => { if (box.checked !== %s) box.click(); })(
  document.querySelector('[data-place=%s] [data-value="%s"]'))"""
CHECK_IN = """(box => { if (box.checked !== %s) box.click(); })(
  document.querySelector('.panel [aria-label="%s"] [data-value="%s"]'))"""
UNFOLD = "document.querySelectorAll('details').forEach(one => one.open = true)"
ALL_CONTROLS = """(one => { if (!one.checked) one.click(); })(
  document.querySelector('[role=switch]'))"""
REFUSED = "!document.querySelector('.message').hidden"
ANSWERED = "document.documentElement.dataset.answered"


def link(text: str) -> str:
    """The address of a file with a job or plan."""
    pack = zlib.compressobj(wbits=-15)
    packed = base64.urlsafe_b64encode(pack.compress(text.encode()) + pack.flush())
    return f"{PAGE.as_uri()}#plan={packed.decode().rstrip('=')}"


def at_place(plan: dict, place: str):
    """The value at a place of a plan file."""
    value = plan
    for key in place.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


class ExplorerCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tab = cls.enterClassContext(KIND())

    def wait_for(self, expression: str):
        """Its value once it holds; the time limit of the test ends what never does."""
        while not (value := self.tab.evaluate(expression)):
            self.assertEqual(self.tab.messages, [])
            time.sleep(0.02)
        return value

    def open(self, address: str = "", **view):
        self.tab.open(address or PAGE, **view)
        self.wait_for(ANSWERED)

    def do(self, expression: str) -> float:
        """Does something and waits for the answer, which took so many milliseconds."""
        self.tab.evaluate(f"delete {ANSWERED}")
        self.tab.evaluate(expression)
        return float(self.wait_for(ANSWERED))

    def drag(self, name: str, place: int) -> float:
        return self.do(SET % (place, "input", CONTROL % name))

    def choose(self, name: str, value) -> float:
        return self.do(SET % (json.dumps(value), "change", CONTROL % name))

    def press(self, name: str):
        self.tab.evaluate(PRESS % name)

    def choose_at(self, place: str, value):
        """Gives the choice at a place of plan files a value by its controls."""
        if at_place(self.plan(), place) == value:
            return
        if place == "recompute":
            self.recompute(value)
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            for word in self.tab.evaluate(BOXES % json.dumps(place)):
                self.tab.evaluate(CHECK % (json.dumps(word in value), json.dumps(place), word))
                self.settle()
        elif isinstance(value, dict):
            words = self.tab.evaluate(BOXES % json.dumps(place))
            self.assertGreaterEqual(len(words), len(value))
            # A plan leaves out the last ones while they are off.
            for word, on in itertools.zip_longest(words, value.values(), fillvalue=False):
                self.tab.evaluate(CHECK % (json.dumps(on), json.dumps(place), word))
                self.settle()
        else:
            self.tab.evaluate(SET_AT % (json.dumps(place), json.dumps(value)))
        self.settle()

    def recompute(self, value, name="Recompute"):
        setting = {} if isinstance(value, str) else value
        kind = value if isinstance(value, str) else "modules" if "modules" in value else "every"
        if kind == "every" and setting.get("every", 1) == 1:
            kind = "full" if "every" in setting else "none"
        self.choose(name, kind)
        wanted = setting.get("modules", [])
        others = [module for module in MODULES if wanted and module not in wanted]
        for module in [*wanted, *others]:  # at least one of them is checked
            on = json.dumps(module in wanted)
            self.tab.evaluate(CHECK_IN % (on, f"{name} modules", module))
            self.settle()
        if setting.get("every", 1) > 1:
            self.choose(f"{name} every nth layer", setting["every"])
        for stage, own in setting.get("stages", {}).items():
            if self.tab.evaluate(f"({CONTROL % f'{name} of stage {stage}'}) === null"):
                self.choose("Recompute otherwise in stage", stage)
            self.recompute(own, f"{name} of stage {stage}")

    def settle(self):
        """Waits until the planner has answered the last wish."""
        self.wait_for("document.documentElement.dataset.thinking === undefined")

    def said(self, selector: str) -> str:
        return self.tab.evaluate(f"document.querySelector('{selector}').innerText")

    def plan(self) -> dict:
        """What the address holds."""
        packed = self.tab.evaluate("location.hash").removeprefix("#plan=")
        return json.loads(zlib.decompress(base64.urlsafe_b64decode(packed + "=="), wbits=-15))

    def check(self, width: int = 1280) -> list:
        """What must be true of any view."""
        return check_view(self, width)

    def command(self, *arguments) -> dict:
        done = subprocess.run(
            [explorer.COMMAND, *arguments, "--json"], capture_output=True, text=True, check=False
        )
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)


def main():
    """Runs the tests of a file; they are skipped where there is no page."""
    if PAGE is None:
        print("skipped:", explorer.PAGE, "is not there (make engine)")
        sys.exit(77)
    unittest.main()
