"""tools/check/check_words.py finds words that a stranger does not read at once: their count may
only fall."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/check_words.py"
RATCHET = "tools/check/words_ratchet.json"
SOURCE = "stepwright/step/a.h"
GOOD = "/// Returns the bytes of a rank.\nint bytes();\n"


class Words(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("tools/check/words_ratchet.json", "{}")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *words: str) -> tuple[int, str]:
        """Exit status and output of the script on the folder."""
        command = [sys.executable, "-B", str(SCRIPT), str(self.folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def finds(self, kind: str, name: str, text: str, line: int) -> None:
        self.write(name, text)
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(f"{name}:{line}: {kind}: ", output)

    def test_this_repository_has_no_more_than_recorded(self):
        command = [sys.executable, "-B", str(SCRIPT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_good_words_pass(self):
        self.write(SOURCE, GOOD + 'const char* kAddress = "http:///// Of what";\n')
        self.write("docs/a.md", "| a | b |\n|---|---|\n| c | d |\n\n```\n" + "x" * 300 + "\n```\n")
        self.write("tests/cli/golden/a.txt", "Notes\n- One fact. Its consequence.\n\nMore. A. B.\n")
        self.assertEqual(self.check()[0], 0, self.check()[1])

    def test_a_comment_that_leans_on_another(self):
        for words in ("What lists leave to it.", "The same of all ranks.", "Of those it is one."):
            self.finds("opening", SOURCE, f"{GOOD}/// {words}\nint more();\n", 3)

    def test_a_comment_behind_its_code(self):
        self.finds("opening", SOURCE, "int rows = 0;  ///< Of this rank alone.\n", 1)
        self.finds("fragment", SOURCE, "int rows = 0;  ///< Local rows.\n", 1)

    def test_only_the_beginning_of_a_comment_counts(self):
        self.write(SOURCE, "/// Returns the bytes\n/// of a rank.\nint bytes();\n")
        self.assertEqual(self.check()[0], 0)

    def test_long_cells_and_lines(self):
        self.finds("cell", "docs/a.md", f"| a |\n|---|\n| {'x' * 301} |\n", 3)
        self.finds("line", "docs/a.md", f"a\n{'x ' * 101}\n", 2)

    def test_a_long_note(self):
        note = "Notes\n- One. Two.\n- One fact. A consequence. A third.\n"
        self.finds("note", "tests/cli/golden/a.txt", note, 3)

    def test_a_count_may_only_fall(self):
        bad = "/// Of it.\nint a();\n"
        self.write(SOURCE, bad + bad)
        (self.folder / RATCHET).unlink()
        self.assertEqual(self.check("--lower")[0], 0)
        recorded = json.loads((self.folder / RATCHET).read_text())
        self.assertEqual(recorded["opening"], {"stepwright/step": 2})
        self.assertEqual(self.check()[0], 0)
        self.write(SOURCE, bad * 3)
        self.assertIn("stepwright/step: 3 of kind opening, 2 are recorded", self.check()[1])
        self.check("--lower")
        self.assertEqual(self.check()[0], 1)
        self.write(SOURCE, bad)
        self.check("--lower")
        recorded = json.loads((self.folder / RATCHET).read_text())
        self.assertEqual(recorded["opening"], {"stepwright/step": 1})

    def test_documents_may_only_become_shorter(self):
        for page in ("README.md", "data/README.md", "docs/a.md", "docs/b/c.md"):
            self.write(page, "word\n" * 100)
        self.write("tests/a.md", "word\n" * 1000)  # of no reader
        self.check("--lower")
        recorded = json.loads((self.folder / RATCHET).read_text())
        self.assertEqual(recorded["bytes"], {"documents": 2000})
        self.assertEqual(self.check()[0], 0, self.check()[1])
        self.write("docs/b/c.md", "word\n" * 101)
        self.assertIn("documents: 2005 bytes, 2000 are recorded", self.check()[1])
        self.assertEqual(self.check()[0], 1)
        self.check("--lower")
        self.assertEqual(self.check()[0], 1)
        self.write("docs/a.md", "word\n")
        self.check("--lower")
        recorded = json.loads((self.folder / RATCHET).read_text())
        self.assertEqual(recorded["bytes"], {"documents": 2000})


if __name__ == "__main__":
    unittest.main()
