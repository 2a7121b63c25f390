"""tools/check/check_includes.py refuses wrong arrows, cycles, and headers that reach too far."""

import re
import subprocess
import sys
import tempfile
import unittest
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/check_includes.py"
sys.path.insert(0, str(SCRIPT.parent))
from check_includes import BELOW, REACH  # noqa: E402
from include_graph import INCLUDERS, cycles, graph, includers, reach  # noqa: E402

LIMITED, LIMIT = next(iter(REACH.items()))


def design() -> dict[str, str]:
    """Room -> rooms that it may use, as docs/design.md has them."""
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", text, re.MULTILINE))


# Header -> the sources that a change of it compiles, within 10 %.
RECORDED = {
    "cluster/cluster.h": 950,
    "collective/algorithm.h": 910,
    "model/architecture.h": 900,
    "plan/plan.h": 830,
    "plan/job.h": 800,
    "core/document.h": 705,
    "step/operator.h": 535,
    "step/program.h": 465,
    "cost/cost_model.h": 235,
    "memory/host.h": 216,
    "logs/record.h": 127,
    "tune/tune.h": 108,
    "framework_files/targets/code.h": 104,
    "schedule/kinds.h": 89,
    "plan/frameworks/law.h": 76,
    "plan/overlap_table.h": 75,
    "runtime/kernels/kernels.h": 24,
    "plan/choices/plan_table.h": 17,
    "plan/laws/laws.h": 13,
}


def run(files: dict[str, str], *options: str) -> tuple[int, str]:
    """Exit status and output of the script on a tree that holds these files, by path."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", SCRIPT, folder, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def check(files: dict[str, str]) -> tuple[int, str]:
    """Exit status and output of the script on a tree that holds these files below stepwright/."""
    return run({f"stepwright/{name}": text for name, text in files.items()})


def include(*names: str) -> str:
    """A source that includes these headers of stepwright/, a line each."""
    return "".join(f'#include "stepwright/{name}"\n' for name in names)


def kept(edges: list[str]) -> list[str]:
    """The edges that `cycles` does not remove, of edges `ab` that one include each makes."""
    removed = {"".join(edge) for edge, _ in cycles({tuple(edge): [("", 1, "")] for edge in edges})}
    return [edge for edge in edges if edge not in removed]


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
        self.assertEqual(set(BELOW), folders)

    def test_the_design_names_the_same_rooms_and_arrows(self):
        said = design() | {"cli": BELOW["cli"]}  # "all"
        self.assertEqual(
            {room: set(re.findall(r"\w+", uses)) for room, uses in said.items()},
            {room: set(below.split()) for room, below in BELOW.items()},
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

    def test_refuses_a_cycle_of_two_subfolders(self):
        status, output = check(
            {
                "plan/laws/a.h": include("plan/files/a.h"),
                "plan/files/a.h": "",
                "plan/files/b.cpp": "\n" + include("plan/laws/a.h"),
                "plan/files/c.cpp": include("plan/laws/a.h"),
            }
        )
        self.assertEqual(status, 1)
        self.assertEqual(
            output,
            "stepwright/plan/laws/a.h:1: <stepwright/plan/files/a.h> closes the cycle "
            "plan/laws -> plan/files -> plan/laws\n",
        )

    def test_refuses_a_cycle_through_the_top_of_a_room(self):
        status, output = check(
            {"plan/a.h": include("plan/laws/b.h"), "plan/laws/c.cpp": include("plan/d.h")}
        )
        self.assertEqual(status, 1)
        self.assertIn("the cycle plan -> plan/laws -> plan\n", output)

    def test_refuses_a_cycle_of_three_subfolders(self):
        way = ["data", "states", "messages", "data"]
        files = {f"runtime/{a}/a.cpp": include(f"runtime/{b}/b.h") for a, b in pairwise(way)}
        status, output = check(files)
        self.assertEqual((status, output.count("\n")), (1, 1))
        self.assertIn("the cycle runtime/data -> runtime/states -> runtime/messages -> ", output)

    def test_prints_each_include_of_the_edge_that_closes_a_cycle(self):
        status, output = check(
            {
                "plan/a.cpp": include("plan/laws/a.h", "plan/laws/b.h"),
                "plan/laws/a.cpp": include("plan/a.h", "plan/b.h", "plan/c.h"),
            }
        )
        self.assertEqual(status, 1)
        places = re.findall(
            r"^stepwright/(\S+): .* plan -> plan/laws -> plan$", output, re.MULTILINE
        )
        self.assertEqual(places, ["plan/a.cpp:1", "plan/a.cpp:2"])

    def test_accepts_folders_without_a_cycle(self):
        status, output = check(
            {
                "plan/a.cpp": include("plan/laws/a.h", "plan/b.h", "plan/files/a.h"),
                "plan/b.h": include("plan/a.h"),  # within one folder
                "plan/laws/a.h": include("plan/files/a.h", "core/error.h"),
            }
        )
        self.assertEqual(status, 0, output)

    def test_no_cycle_is_left_without_the_edges_that_are_printed(self):
        for edges in (["ab", "ba"], ["ab", "bc", "ca", "cb"], ["ab", "bc", "cd", "da", "ca", "db"]):
            with self.subTest(edges):
                left = kept(edges)
                self.assertLess(len(left), len(edges))
                self.assertEqual(kept(left), left)
        self.assertEqual(kept(["ab", "bc", "ac"]), ["ab", "bc", "ac"])

    def test_the_shortest_cycle_is_cut_first(self):
        self.assertEqual(kept(["ab", "bc", "ca", "cb"]), ["ab", "ca", "cb"])

    def test_limited_headers_exist(self):
        for header in REACH:
            self.assertTrue((ROOT / header).is_file(), header)

    def test_refuses_a_header_that_reaches_its_limit(self):
        folder = str(Path(LIMITED).parent)
        files = {f"{folder}/{i}.cpp": f'#include "{folder}/through.h"\n' for i in range(LIMIT)}
        files |= {LIMITED: "", f"{folder}/through.h": f'#include "{LIMITED}"\n'}
        expected = f"{LIMITED}:1: reaches {LIMIT} sources; fewer than {LIMIT} are allowed\n"
        self.assertEqual(run(files), (1, expected))
        del files[f"{folder}/0.cpp"]
        status, output = run(files)
        self.assertEqual(status, 0, output)

    def test_lists_what_a_header_reaches(self):
        files = {
            "stepwright/core/a.h": "",
            "stepwright/core/b.h": include("core/a.h"),
            "stepwright/core/c.h": include("core/b.h"),
            "stepwright/core/a.cpp": include("core/a.h"),
            "stepwright/core/b.cpp": include("core/b.h", "core/a.h"),
            "stepwright/model/c.cu": include("core/c.h"),
            "stepwright/model/d.cpp": "",
        }
        status, output = run(files, "--reach", "stepwright/core/a.h")
        self.assertEqual(status, 0)
        self.assertEqual(
            output,
            "stepwright/core/a.h reaches 3 of 4 sources, through:\n"
            "    2 stepwright/core/b.h\n"
            "    2 (no other header)\n",
        )
        counts = "    3 stepwright/core/a.h\n    2 stepwright/core/b.h\n    1 stepwright/core/c.h\n"
        self.assertEqual(run(files, "--reach"), (0, counts))

    def test_lists_short_headers_of_one_includer(self):
        def listed(**more: str) -> str:
            files = {
                "stepwright/plan/laws/a.h": more.pop("text", "\n"),
                "stepwright/plan/laws/a.cpp": include("plan/laws/a.h"),
                "tests/plan/a_test.cpp": include("plan/laws/a.h"),
                "stepwright/plan/b.cpp": include("plan/laws/a.h"),
            }
            return run(files | {f"{name}/c.cpp": text for name, text in more.items()}, "--small")[1]

        line = "stepwright/plan/laws/a.h: {} lines, only for stepwright/plan/b.cpp\n"
        self.assertEqual(listed(), line.format(1))
        self.assertEqual(listed(text=19 * "\n"), line.format(19))
        self.assertEqual(listed(text=20 * "\n").strip(), "")
        for folder in ("stepwright/plan", "tests/plan", "bench", "python/stepwright"):
            with self.subTest(folder):
                self.assertEqual(listed(**{folder: include("plan/laws/a.h")}).strip(), "")

    def test_headers_reach_no_more_sources_than_recorded(self):
        by_path = includers(graph(ROOT, INCLUDERS))
        for header, count in RECORDED.items():
            with self.subTest(header):
                real = reach(by_path, f"stepwright/{header}")
                self.assertLessEqual(abs(real - count), max(2, 0.1 * real), real)


if __name__ == "__main__":
    unittest.main()
