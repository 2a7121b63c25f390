"""The code of docs/python.md runs, from its first line to its last."""

import contextlib
import io
import os
import re
import unittest

from place import ROOT, PlaceTest


class Docs(PlaceTest):
    def test_code_runs(self):
        text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        self.assertGreater(len(blocks), 4)
        (self.folder / "examples").symlink_to(ROOT / "examples")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})
        self.assertIn("pretrain_gpt.py", shown.getvalue())
        self.assertIn("precision bf17", shown.getvalue())


if __name__ == "__main__":
    unittest.main()
