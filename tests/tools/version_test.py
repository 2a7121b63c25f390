"""The version stands in CMakeLists.txt; files that repeat it say the same, and so must a tag."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/release"))

import version

ROOT = Path(__file__).resolve().parents[2]


class Version(unittest.TestCase):
    def test_all_files_say_the_same(self):
        self.assertEqual(version.findings(ROOT), [])
        self.assertEqual(version.findings(ROOT, f"v{version.version(ROOT)}"), [])

    def test_another_tag_is_refused(self):
        self.assertEqual(len(version.findings(ROOT, "v0.0.9")), 1)

    def test_a_file_that_was_forgotten_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("CMakeLists.txt", *version.REPEATED):
                Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, Path(folder, name))
            cmake = Path(folder, "CMakeLists.txt")
            said = version.version(ROOT)
            cmake.write_text(cmake.read_text().replace(f"VERSION {said}", "VERSION 7.8.9"))
            found = version.findings(Path(folder))
            self.assertEqual(len(found), len(version.REPEATED))
            self.assertIn(f"CITATION.cff: says {said}, CMakeLists.txt 7.8.9", found)


if __name__ == "__main__":
    unittest.main()
