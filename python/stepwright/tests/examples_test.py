"""The scripts and the notebook of examples/python run, and do what they say."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import unittest

from place import JOB, ROOT, PlaceTest

EXAMPLES = ROOT / "examples/python"


class Scripts(PlaceTest):
    def run_script(self, name, *arguments, **environment):
        return subprocess.run(
            [sys.executable, EXAMPLES / name, self.write("job.yaml", JOB), *arguments],
            cwd=self.folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_choose_plan_writes_the_file_of_the_nodes_that_there_are(self):
        run = self.run_script("choose_plan.py", "-o", "train.sh", SLURM_JOB_NUM_NODES="2")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("P(fits)", run.stdout)
        text = (self.folder / "train.sh").read_text()
        self.assertIn("pretrain_gpt.py", text)
        self.assertIn("\nNODES=2\n", text)

    def test_choose_plan_says_what_is_wrong(self):
        run = self.run_script("choose_plan.py", "-o", "train.sh", "--nodes", "-1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cluster.nodes", run.stderr)
        self.assertFalse((self.folder / "train.sh").exists())

    def test_cost_curve_prices_each_size(self):
        run = self.run_script(
            *("cost_curve.py", "--nodes", "1,2,3", "--tokens", "1e12"),
            *("--price-per-gpu-hour", "2"),
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        one, two, three = csv.DictReader(io.StringIO(run.stdout))
        self.assertLess(float(two["days"]), float(one["days"]))
        saved = float(one["days"]) - float(two["days"])
        paid = float(two["cost"]) - float(one["cost"])
        self.assertAlmostEqual(float(two["cost_of_a_day_less"]) / (paid / saved), 1, delta=0.1)
        self.assertEqual(three["nodes"], "3")


class Notebook(PlaceTest):
    def test_cells_run_from_first_to_last(self):
        notebook = json.loads((EXAMPLES / "first_steps.ipynb").read_text(encoding="utf-8"))
        shown, names = io.StringIO(), {}
        with contextlib.redirect_stdout(shown):
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), names)
        self.assertIn("P(fits)", shown.getvalue())
        self.assertIn("4 nodes:", shown.getvalue())

    def test_is_kept_without_outputs(self):
        notebook = json.loads((EXAMPLES / "first_steps.ipynb").read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            self.assertFalse(cell.get("outputs"))


if __name__ == "__main__":
    unittest.main()
