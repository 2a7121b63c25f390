"""Skipped tests are found in the logs of all that skips, and every reason names a command."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/check"))
from skipped_tests import Skipped, skipped_in, text_of  # noqa: E402

LOG = """
1/3 Testing: explore_engine_test
1/3 Test: explore_engine_test
Output:
----------------------------------------------------------
skipped: explorer.html is not there (make engine)
<end of output>
Test Passed.
2/3 Test: lab_test
[ RUN      ] Lab.Runs
/src/tests/lab/run_test.cpp:20: Skipped
no lab can be made here: it lacks root (sudo -i)

[  SKIPPED ] Lab.Runs (0 ms)
[ RUN      ] Lab.SkipsNothing
[       OK ] Lab.SkipsNothing (1 ms)
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Lab.Runs
3/3 Test: cli_completion_test
test_fish (__main__.Fish.test_fish) ... skipped 'fish is not installed (tools/setup.sh test)'
test_bash (__main__.Bash.test_bash) ... ok
test_wide (__main__.Bash.test_wide) ... skipped "it's odd"
"""
# Every way in which a source skips, with the text of its reason.
SKIPS = re.compile(
    r"(?:print\(f?\"skipped: |\"skipped: |skipTest\(|skipUnless\(.*, |GTEST_SKIP\(\) << )([^\n]*)"
)


class SkippedTests(unittest.TestCase):
    def test_are_found_once_in_order(self):
        self.assertEqual(
            skipped_in(LOG),
            [
                Skipped("explore_engine_test", "", "explorer.html is not there (make engine)"),
                Skipped("lab_test", "Lab.Runs", "no lab can be made here: it lacks root (sudo -i)"),
                Skipped(
                    "cli_completion_test",
                    "test_fish",
                    "fish is not installed (tools/setup.sh test)",
                ),
                Skipped("cli_completion_test", "test_wide", "it's odd"),
            ],
        )

    def test_are_named_with_their_command(self):
        lines = text_of(skipped_in(LOG)).splitlines()
        again = "ctest --preset release -R '^explore_engine_test$'"
        self.assertEqual(lines[2].strip(), f"make engine && {again}")
        self.assertEqual(lines[8].strip(), "ctest --preset release -R '^cli_completion_test$'")
        self.assertEqual(text_of([]), "No test was skipped.")

    def test_every_reason_names_a_command(self):
        sources = [p for e in ("*_test.py", "*_test.cpp", "own_lab.h") for p in ROOT.rglob(e)]
        sources += ROOT.glob("python/*/CMakeLists.txt")
        mine = ROOT / "tests/tools"
        reasons = [
            (path.name, reason)
            for path in sources
            if path.relative_to(ROOT).parts[0] in ("tests", "python") and path.parent != mine
            for reason in SKIPS.findall(path.read_text(encoding="utf-8"))
        ]
        self.assertGreater(len(reasons), 10)
        for name, reason in reasons:
            with self.subTest(name=name):
                # A reason that is a variable was written elsewhere, where its own line is read.
                if '"' in reason:
                    self.assertRegex(reason, r"\((make|tools/|sudo|npm|chmod) ?[^()]*\)")


if __name__ == "__main__":
    unittest.main()
