"""The package is typed: mypy --strict finds nothing in it, nor in the code of docs/python.md."""

import importlib.util
import re
import subprocess
import sys
import unittest
from pathlib import Path

from place import ROOT, PlaceTest

import stepwright

# Packages that only some functions need, and that bring no types.
SETTINGS = "[mypy]\nstrict = True\n[mypy-pandas.*,pyarrow.*]\nignore_missing_imports = True\n"


class Types(PlaceTest):
    def checked(self, *what: object) -> str:
        """What mypy prints of a file or package."""
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("mypy is not installed (tools/setup.sh test)")
        settings = self.write("mypy.ini", SETTINGS)
        words = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", "cache"]
        done = subprocess.run(
            [*map(str, words), *map(str, what)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={"MYPYPATH": str(Path(stepwright.__file__).parents[1]), "PYTHONPATH": ""},
        )
        return done.stdout + done.stderr

    def test_the_code_of_the_guide(self):
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        guide = self.write("guide.py", "\n".join(blocks))
        self.assertIn("no issues found", self.checked(guide))

    def test_the_package(self):
        self.assertIn("no issues found", self.checked("-p", "stepwright"))

    def test_a_wrong_call_is_found(self):
        wrong = self.write("wrong.py", "import stepwright\nstepwright.tune(5, top='many')\n")
        self.assertIn("Found 2 errors", self.checked(wrong))


class Names(unittest.TestCase):
    def test_all_public_names_are_there(self):
        for name in stepwright.__all__:
            self.assertTrue(hasattr(stepwright, name), name)
        for name in ("tune", "load", "Prediction", "Plan", "InputError", "__version__"):
            self.assertIn(name, stepwright.__all__)
        self.assertEqual(len(stepwright.__all__), len(set(stepwright.__all__)))
        self.assertTrue(Path(stepwright.__file__).with_name("py.typed").exists())


if __name__ == "__main__":
    unittest.main()
