"""tools/files.py replaces files whole or not at all."""

import contextlib
import io
import multiprocessing
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from files import printed_to, replace_text, replaced

ROOT = Path(__file__).resolve().parents[2]
OLD = b"old\r\n\xff"  # bytes that are no text, to stay as they are
LETTERS = 1 << 18  # more than one write takes


def write_often(path: Path, letter: str, times: int) -> None:
    """Replaces a file again and again by one letter, in pieces."""
    for _ in range(times):
        with replaced(path) as file:
            for _ in range(4):
                file.write(letter * (LETTERS // 4))
                file.flush()


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "table.csv"
        self.path.write_bytes(OLD)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


class Replaced(FilesTest):
    def test_takes_the_name_at_the_end(self):
        with replaced(self.path) as file:
            file.write("new\n")
            file.flush()
            self.assertEqual(self.path.read_bytes(), OLD)
        self.assertEqual(self.path.read_bytes(), b"new\n")
        self.assertEqual(self.names(), ["table.csv"])

    def test_an_exception_leaves_the_old_file_alone(self):
        for error in (ValueError, KeyboardInterrupt, SystemExit):
            with self.subTest(error), self.assertRaises(error), replaced(self.path) as file:
                file.write("half of it")
                file.flush()
                raise error
            self.assertEqual(self.path.read_bytes(), OLD)
            self.assertEqual(self.names(), ["table.csv"])

    def test_an_exception_leaves_no_new_file(self):
        with self.assertRaises(ValueError), replaced(self.folder / "new.csv") as file:
            file.write("half of it")
            raise ValueError
        self.assertEqual(self.names(), ["table.csv"])

    def test_a_full_disk_leaves_the_old_file_alone(self):
        """A limit on the size of files stands for it."""
        program = (
            "import resource, sys\n"
            f"sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
            "from files import replace_text\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
            "replace_text(sys.argv[1], 'x' * 100_000)\n"
        )
        command = [sys.executable, "-B", "-c", program, self.path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.path.read_bytes(), OLD)
        self.assertEqual(self.names(), ["table.csv"])

    def test_rows_of_a_measurement_stay_beside(self):
        with self.assertRaises(ValueError), replaced(self.path, keep_part=True) as file:
            file.write("a row\n")
            raise ValueError
        self.assertEqual(self.path.read_bytes(), OLD)
        old, part = self.names()
        self.assertEqual(old, "table.csv")
        self.assertRegex(part, r"^table\.csv\.part-\w+$")
        self.assertEqual((self.folder / part).read_text(), "a row\n")

    def test_keeps_the_mode(self):
        for mode in (0o640, 0o600, 0o755):
            self.path.chmod(mode)
            replace_text(self.path, "new\n")
            self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), mode)

    def test_a_new_file_has_the_mode_of_any_other(self):
        other, new = self.folder / "other", self.folder / "new"
        other.write_text("", encoding="utf-8")
        replace_text(new, "")
        self.assertEqual(new.stat().st_mode, other.stat().st_mode)

    def test_follows_links(self):
        (self.folder / "links").mkdir()
        link, later = self.folder / "links/table", self.folder / "links/later"
        link.symlink_to("../table.csv")
        later.symlink_to("../later.csv")  # names no file yet
        for name, target in ((link, self.path), (later, self.folder / "later.csv")):
            replace_text(name, "new\n")
            self.assertTrue(name.is_symlink())
            self.assertEqual(target.read_bytes(), b"new\n")
        self.assertEqual(sorted(os.listdir(self.folder / "links")), ["later", "table"])

    def test_writes_to_pipes_directly(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        found = []
        reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
        reader.start()
        replace_text(pipe, "new\n")
        reader.join()
        self.assertEqual(found, [b"new\n"])
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    def test_names_a_file_that_cannot_be_written(self):
        lost = self.folder / "lost/table.csv"
        for path in (lost, self.folder):
            with self.assertRaises(OSError) as raised:
                replace_text(path, "new\n")
            self.assertEqual(os.fspath(raised.exception.filename), os.fspath(path))

    def test_a_file_that_may_not_be_written_stays(self):
        """Told by `os.access`, as root may write to every file."""
        with mock.patch("os.access", return_value=False), self.assertRaises(PermissionError):
            replace_text(self.path, "new\n")
        self.assertEqual(self.path.read_bytes(), OLD)

    def test_takes_bytes_and_newlines_as_given(self):
        with replaced(self.path, binary=True) as file:
            file.write(b"\xff\n")
        self.assertEqual(self.path.read_bytes(), b"\xff\n")
        with replaced(self.path, newline="\r\n") as file:
            file.write("\N{GREEK SMALL LETTER MU}s\n")
        self.assertEqual(self.path.read_bytes(), b"\xce\xbcs\r\n")


class TwoWriters(FilesTest):
    def test_the_later_end_wins(self):
        with replaced(self.path) as first:
            first.write("first")
            first.flush()
            with replaced(self.path) as second:
                second.write("second")
            self.assertEqual(self.path.read_bytes(), b"second")
            first.write(" and last")
        self.assertEqual(self.path.read_bytes(), b"first and last")
        self.assertEqual(self.names(), ["table.csv"])

    def test_do_not_mix(self):
        replace_text(self.path, "o" * LETTERS)
        start = multiprocessing.get_context("fork").Process
        writers = [start(target=write_often, args=(self.path, letter, 20)) for letter in "ab"]
        for writer in writers:
            writer.start()
        seen = set()
        while any(writer.is_alive() for writer in writers):
            text = self.path.read_text(encoding="utf-8")
            seen.add((text[0], len(text), len(set(text))))
        for writer in writers:
            writer.join()
            self.assertEqual(writer.exitcode, 0)
        self.assertLessEqual(seen, {(letter, LETTERS, 1) for letter in "oab"})
        self.assertEqual(self.names(), ["table.csv"])


class Profiles(FilesTest):
    """tools/data/profiles.sh, with a program that fits nothing and fails at its last profile."""

    PROGRAM = """#!/bin/bash
for last; do :; done
if [[ $last == */ ]]; then %s; echo new >"$last/cluster.json"; else echo new >"$last"; fi
"""

    def run_with(self, last: str) -> int:
        program = self.folder / "program"
        program.write_text(self.PROGRAM % last, encoding="utf-8")
        program.chmod(0o755)
        (self.folder / "profiles").mkdir(exist_ok=True)
        (self.folder / "profiles/gb200.json").write_text("old\n", encoding="utf-8")
        script = ROOT / "tools/data/profiles.sh"
        done = subprocess.run([script, program, self.folder / "profiles"], check=False)
        return done.returncode

    def found(self) -> dict[str, str]:
        folder = self.folder / "profiles"
        return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*.*")}

    def test_a_failure_leaves_all_profiles_alone(self):
        self.assertEqual(self.run_with("exit 3"), 3)
        self.assertEqual(self.found(), {"gb200.json": "old\n"})

    def test_all_are_replaced(self):
        self.assertEqual(self.run_with(":"), 0)
        found = self.found()
        self.assertEqual(set(found.values()), {"new\n"})
        self.assertEqual(len(found), 7)
        self.assertIn("collectives/cluster.json", found)


class PrintedTo(FilesTest):
    def test_replaces_a_file_by_what_is_printed(self):
        with printed_to(self.path):
            print("page")
        self.assertEqual(self.path.read_bytes(), b"page\n")

    def test_prints_to_standard_output_without_a_file(self):
        with contextlib.redirect_stdout(io.StringIO()) as shown, printed_to(None):
            print("page")
        self.assertEqual(shown.getvalue(), "page\n")

    def test_a_script_that_fails_leaves_its_document_alone(self):
        """Each prints a part of its page before it starts the command, which is absent."""
        absent = self.folder / "absent"
        for script, command in (
            ("search_comparison", ["--command", absent]),
            ("strands_tables", [absent]),
            ("zero_bubble_tables", [absent]),
            ("schedule_tables", [absent]),
        ):
            path = ROOT / f"tools/docs/{script}.py"
            call = [sys.executable, "-B", path, *command, "-o", self.path]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(self.path.read_bytes(), OLD, script)
            self.assertEqual(self.names(), ["table.csv"])

    def test_no_line_of_make_empties_a_document_first(self):
        text = (ROOT / "Makefile").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r".* > ?docs/.*", text), [])


if __name__ == "__main__":
    unittest.main()
