"""tools/check/check_names.py accepts names that are one thing and refuses those that are two."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/check_names.py"
AS_WELL = " is defined in stepwright/step/a.h as well"


def check(files: dict[str, str]) -> tuple[int, list[str]]:
    """Exit status and lines of the script on a tree of three rooms with these files."""
    rooms = {f"stepwright/{room}/CMakeLists.txt": "" for room in ("core", "step", "tune")}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (rooms | files).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", SCRIPT, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()


def in_step(text: str) -> str:
    return f"#pragma once\n\nnamespace stepwright::step {{\n{text}\n}}\n"


class Names(unittest.TestCase):
    def accepts(self, files: dict[str, str]) -> None:
        self.assertEqual(check(files)[0], 0, check(files)[1])

    def refuses(self, files: dict[str, str], *expected: str) -> None:
        self.assertEqual(check(files), (1, list(expected)))

    def test_this_repository_is_clean(self):
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_type_in_two_files(self):
        self.refuses(
            {
                "stepwright/step/a.h": in_step("struct Block {\n  int a;\n};"),
                "stepwright/step/b.h": in_step("/// Another.\nclass Block final : Base {};"),
            },
            f"stepwright/step/b.h:5: stepwright::step::Block{AS_WELL}",
        )

    def test_a_type_of_a_room_and_of_its_tests(self):
        self.refuses(
            {
                "stepwright/step/a.h": in_step("enum class Kind : int { kA };"),
                "tests/step/b.h": in_step("using Kind = int;"),
            },
            f"tests/step/b.h:4: stepwright::step::Kind{AS_WELL}",
        )

    def test_an_inline_function_and_a_constant_in_two_files(self):
        one = in_step("inline int f(int a) { return a; }\ninline constexpr int kMost[] = {1};")
        self.refuses(
            {"stepwright/step/a.h": one, "stepwright/step/b.h": one},
            f"stepwright/step/b.h:4: stepwright::step::f{AS_WELL}",
            f"stepwright/step/b.h:5: stepwright::step::kMost{AS_WELL}",
        )

    def test_the_namespace_of_another_room(self):
        self.refuses(
            {"stepwright/tune/a.h": in_step("struct Block {};")},
            "stepwright/tune/a.h:4: stepwright::step::Block belongs in namespace stepwright::tune",
        )

    def test_a_name_that_hides_one_of_core(self):
        self.refuses(
            {
                "stepwright/core/a.h": "namespace stepwright {\nstruct Node {};\n}\n",
                "stepwright/step/a.h": in_step("struct Node {};"),
            },
            "stepwright/step/a.h:4: stepwright::step::Node hides stepwright::Node",
        )

    def test_declarations_overloads_members_and_unnamed_namespaces(self):
        hidden = "namespace {\nstruct Block {};\nint f() { return 0; }\n}  // namespace\n"
        self.accepts(
            {
                "stepwright/step/a.h": in_step("struct Block;\nint f(int a);\nvoid g();"),
                "stepwright/step/b.h": in_step("struct Block {\n  int f(int a) { return a; }\n};"),
                "stepwright/step/c.cpp": in_step(hidden + "int f(int a) { return a; }"),
                "stepwright/step/d.cpp": in_step(hidden + "int f(double a) { return 1; }"),
                "stepwright/step/e.cpp": in_step('int Block::g() { return "struct Block {"; }'),
                "stepwright/tune/a.h": "namespace stepwright::step {\nstruct Block;\n}\n",
                "stepwright/tune/b.h": "namespace stepwright::tune {\nstruct Block {};\n}\n",
            }
        )


if __name__ == "__main__":
    unittest.main()
