"""Every source and test is built, tests/ mirrors stepwright/, the root CMake is short."""

import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def words(cmake: Path) -> list[str]:
    """The words of a CMake file, comments left out."""
    return re.sub(r"#.*", "", cmake.read_text(encoding="utf-8")).replace(")", " ").split()


def unnamed(folder: Path) -> list[str]:
    """Sources below a folder that the nearest CMakeLists.txt at or above them does not name."""
    found = []
    for source in sorted(folder.rglob("*.cpp")):
        home = next(p for p in source.parents if p == folder or (p / "CMakeLists.txt").is_file())
        cmake = home / "CMakeLists.txt"
        if not cmake.is_file() or str(source.relative_to(home)) not in words(cmake):
            found.append(str(source.relative_to(folder)))
    return found


def folders(root: Path) -> set[str]:
    """The folders below root that hold a CMakeLists.txt."""
    return {path.parent.name for path in root.glob("*/CMakeLists.txt")}


class Layout(unittest.TestCase):
    def test_every_source_is_named(self):
        for name in ("stepwright", "tests", "bench"):
            with self.subTest(name):
                self.assertEqual(unnamed(ROOT / name), [])

    def test_an_unnamed_test_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            room = Path(folder, "core")
            room.mkdir()
            for name in ("a_test.cpp", "named_test.cpp", "commented_test.cpp"):
                (room / name).touch()
            text = "stepwright_test(named SOURCES named_test.cpp)\n# commented_test.cpp\n"
            (room / "CMakeLists.txt").write_text(text, encoding="utf-8")
            self.assertEqual(unnamed(Path(folder)), ["core/a_test.cpp", "core/commented_test.cpp"])

    def test_tests_mirror_the_rooms(self):
        for test in sorted((ROOT / "tests").rglob("*_test.cpp")):
            folder = test.parent.relative_to(ROOT / "tests")
            with self.subTest(str(folder)):
                self.assertTrue((ROOT / "stepwright" / folder).is_dir())
                self.assertNotEqual(folder, Path("."))

    def test_every_folder_is_added(self):
        rooms = set(words(ROOT / "cmake/StepwrightRoom.cmake"))
        self.assertLessEqual(folders(ROOT / "stepwright"), rooms)
        self.assertLessEqual(folders(ROOT / "tests"), {*rooms, "house", "tools"})

    def test_the_root_cmake_is_short(self):
        lines = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").splitlines()
        self.assertLess(len(lines), 60)


if __name__ == "__main__":
    unittest.main()
