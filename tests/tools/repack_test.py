"""tools/release/repack.py gives wheels of the same files the same bytes."""

import os
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/release"))

import repack

PROGRAM = Path(os.environ.get("STEPWRIGHT_COMMAND", sys.executable))
FILES = {
    "stepwright/_planner.so": (PROGRAM.read_bytes()[:1_000_000], 0o100755),
    "stepwright/__init__.py": (b"x = 1\n", 0o100664),
    "stepwright-1.dist-info/RECORD": (b"stepwright/__init__.py,,\n", 0o100644),
}


class Repack(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def wheel(self, name: str, year: int, names: list[str], level: int) -> Path:
        """A wheel of FILES, as a build of that year packs it in that order."""
        path = self.folder / name
        with zipfile.ZipFile(path, "w") as packed:
            for one in names:
                content, mode = FILES[one]
                entry = zipfile.ZipInfo(one, (year, 2, 3, 4, 5, 6))
                entry.external_attr = mode << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, content, compresslevel=level)
        return path

    def test_two_builds_of_the_same_files_are_equal(self):
        one = self.wheel("one.whl", 2026, list(FILES), 6)
        two = self.wheel("two.whl", 2031, list(reversed(FILES)), 1)
        self.assertNotEqual(one.read_bytes(), two.read_bytes())
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1790000000"}):
            repack.repack(one)
            repack.repack(two)
        self.assertEqual(one.read_bytes(), two.read_bytes())
        with zipfile.ZipFile(one) as packed:
            self.assertIsNone(packed.testzip())
            found = {entry.filename: entry for entry in packed.infolist()}
            self.assertEqual({name: packed.read(name) for name in found}, contents(FILES))
        self.assertEqual(list(found)[-1], "stepwright-1.dist-info/RECORD")
        self.assertEqual(found["stepwright/_planner.so"].external_attr >> 16, 0o100755)
        self.assertEqual(found["stepwright/__init__.py"].external_attr >> 16, 0o100644)
        self.assertEqual(found["stepwright/__init__.py"].date_time[0], 2026)

    def test_another_file_is_another_wheel(self):
        one = self.wheel("one.whl", 2026, list(FILES), 6)
        two = self.wheel("two.whl", 2026, list(FILES)[1:], 6)
        repack.repack(one)
        repack.repack(two)
        self.assertNotEqual(one.read_bytes(), two.read_bytes())

    def test_no_time_is_before_what_a_zip_can_say(self):
        one = self.wheel("one.whl", 2026, list(FILES), 6)
        with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "0"}):
            repack.repack(one)
        with zipfile.ZipFile(one) as packed:
            self.assertEqual(packed.infolist()[0].date_time, repack.EARLIEST)


def contents(files: dict[str, tuple[bytes, int]]) -> dict[str, bytes]:
    return {name: content for name, (content, _) in files.items()}


if __name__ == "__main__":
    unittest.main()
