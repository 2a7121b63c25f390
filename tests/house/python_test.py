"""tools/check/check_python.py accepts this repository and finds what breaks its rules."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/check_python.py"


def check(*files: tuple[str, str]) -> tuple[int, str]:
    """Exit status and output of the script on a tree that holds these files of tools/."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            path = Path(folder, "tools", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", SCRIPT, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip()


class Python(unittest.TestCase):
    def test_this_repository_is_clean(self):
        command = [sys.executable, "-B", SCRIPT]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_long_function_is_found(self):
        body = "    x = 1\n"
        documented = f'def f():\n    """{"A" * 40}.\n\n    More.\n    """\n{59 * body}'
        self.assertEqual(check(("a.py", documented))[0], 0)
        self.assertEqual(
            check(("a.py", documented + body)),
            (1, "tools/a.py:1: f has 61 lines, at most 60"),
        )

    def test_a_deep_function_is_found(self):
        opened = [f"{'    ' * i}for _ in x:\n" for i in range(1, 5)]
        self.assertEqual(
            check(("a.py", "def f(x):\n" + "".join(opened) + " " * 20 + "y = 1\n"))[0], 0
        )
        deep = "def f(x):\n" + "".join(opened) + " " * 20 + "if x:\n" + " " * 24 + "y = 1\n"
        said = "tools/a.py:1: f has 5 blocks inside each other, at most 4"
        self.assertEqual(check(("a.py", deep)), (1, said))
        chain = "def f(x):\n    if x:\n        y = 1\n" + "    elif x:\n        y = 1\n" * 9
        self.assertEqual(check(("a.py", chain))[0], 0)

    def test_parameters_by_place_are_counted(self):
        said = "tools/a.py:1: f has 6 parameters by place, at most 5"
        self.assertEqual(check(("a.py", "def f(a, b, c, d, e, g): ...\n")), (1, said))
        self.assertEqual(check(("a.py", "def f(self, a, b, c, d, e, *, g): ...\n"))[0], 0)

    def test_a_circle_is_found_where_only_types_need_it(self):
        one = "from .b import B\n"
        other = "if TYPE_CHECKING:\n    from . import a\n"
        status, said = check(("p/a.py", one), ("p/b.py", other), ("p/c.py", one))
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^tools/p: modules in a circle: (a -> b -> a|b -> a -> b)$")


if __name__ == "__main__":
    unittest.main()
