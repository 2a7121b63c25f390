"""tools/check/check_includes.py accepts what points down and refuses what does not."""

import importlib.util
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/check_includes.py"


def arrows() -> dict[str, str]:
    """Room -> rooms below it, as the script has them."""
    spec = importlib.util.spec_from_file_location("check_includes", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BELOW


def design() -> dict[str, str]:
    """Room -> rooms that it may use, as docs/design.md has them."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", text, re.MULTILINE))


def check(files: dict[str, str]) -> tuple[int, str]:
    """Exit status and output of the script on a tree that holds these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, "stepwright", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", SCRIPT, folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class Includes(unittest.TestCase):
    def refuses(self, name: str, text: str, expected: str) -> None:
        status, output = check({name: text})
        self.assertEqual((status, output.strip()), (1, f"stepwright/{name}{expected}"))

    def accepts(self, name: str, text: str) -> None:
        status, output = check({name: text})
        self.assertEqual(status, 0, output)

    def test_this_repository_is_clean(self):
        done = subprocess.run(
            [sys.executable, "-B", SCRIPT], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_rooms_are_the_folders(self):
        folders = {path.parent.name for path in (ROOT / "stepwright").glob("*/CMakeLists.txt")}
        self.assertEqual(set(arrows()), folders)

    def test_the_design_names_the_same_rooms_and_arrows(self):
        said = design() | {"cli": arrows()["cli"]}  # "all"
        self.assertEqual(
            {room: set(re.findall(r"\w+", uses)) for room, uses in said.items()},
            {room: set(below.split()) for room, below in arrows().items()},
        )

    def test_refuses_an_upward_include(self):
        text = '#include "stepwright/core/error.h"\n#include "stepwright/plan/plan.h"\n'
        self.refuses("model/model.h", text, ":2: model/ may not use plan/")

    def test_refuses_a_sideways_include(self):
        self.refuses(
            "cost/a.cpp", "#include <stepwright/memory/a.h>\n", ":1: cost/ may not use memory/"
        )

    def test_accepts_an_include_several_floors_down(self):
        self.accepts("simulate/a.cpp", '#include "stepwright/core/error.h"\n')

    def test_accepts_every_room_in_the_cli(self):
        rooms = ("core", "tune", "lab", "sample", "collective_files", "memory", "logs")
        self.accepts("cli/a.cpp", "".join(f'#include "stepwright/{room}/a.h"\n' for room in rooms))

    def test_refuses_an_include_relative_to_the_file(self):
        expected = ':1: "../plan/plan.h" is not a path from the repository root'
        self.refuses("core/a.cpp", '#include "../plan/plan.h"\n', expected)

    def test_refuses_torch_outside_its_rooms(self):
        expected = ":1: only process_group, runtime, sample may know <torch/torch.h>"
        self.refuses("cli/a.cpp", "#include <torch/torch.h>\n", expected)
        self.accepts("runtime/a.cpp", "#include <torch/torch.h>\n")

    def test_refuses_heavy_headers_in_headers(self):
        expected = ":1: <nlohmann/json.hpp> is too heavy for a header"
        self.refuses("core/a.h", "#include <nlohmann/json.hpp>\n", expected)
        self.accepts("core/a.cpp", "#include <nlohmann/json.hpp>\n#include <yaml-cpp/yaml.h>\n")
        self.accepts("core/a.h", "#include <nlohmann/json_fwd.hpp>\n")

    def test_refuses_a_file_outside_the_rooms(self):
        self.refuses("utils/a.h", "", ":1: utils is not a room")


if __name__ == "__main__":
    unittest.main()
