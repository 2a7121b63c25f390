"""Tests of nodes, group shapes and settings."""

import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from stepwright_torch.choices import read_choices
from stepwright_torch.nodes import node_name, tiers_of
from stepwright_torch.settings import Settings


class Nodes(unittest.TestCase):
    def test_ranks_of_a_node_have_one_name(self):
        for environment, node_size in (
            ({}, 2),
            ({"LOCAL_WORLD_SIZE": "2"}, 0),
        ):
            names = [node_name(rank, node_size, environment) for rank in range(4)]
            self.assertEqual(tiers_of(names), [2, 2])
        names = [node_name(rank, 0, {"GROUP_RANK": str(rank // 2)}) for rank in range(4)]
        self.assertEqual(tiers_of(names), [2, 2])
        self.assertEqual(node_name(0, 0, {}), node_name(7, 0, {}))

    def test_only_rectangles_have_a_shape(self):
        for names, shape in (
            ("aabb", [2, 2]),
            ("aaaa", [4, 1]),
            ("abcd", [1, 4]),
            ("aab", []),
            ("abab", []),
            ("aabbaa", []),
        ):
            self.assertEqual(tiers_of(names), shape, names)


class Choices(unittest.TestCase):
    def test_come_from_the_environment(self):
        settings = Settings.from_environment({"STEPWRIGHT_TORCH_MIN_BYTES": "7"})
        self.assertEqual(settings, Settings(min_bytes=7))

    def test_are_refused_where_they_make_no_sense(self):
        for name, text in (("MIN_BYTES", "many"), ("CHUNK_BYTES", "0"), ("NODE_SIZE", "-1")):
            with self.assertRaisesRegex(ValueError, f"STEPWRIGHT_TORCH_{name}"):
                Settings.from_environment({f"STEPWRIGHT_TORCH_{name}": text})


class ChoicesBySize(unittest.TestCase):
    SAMPLES = (
        "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds\n"
        "gloo,all_gather,2,4,1,1000,0,1\n"
        "gloo,all_gather,2,4,1,100000,0,9\n"
        "gloo,all_gather,2,1,4,1000,0,1\n"
        "gloo,send_recv,2,4,1,1000,0,1\n"
        "ho-ring,all_gather,2,4,1,1000,64,2\n"
        "ho-ring,all_gather,2,4,1,100000,64,3\n"
        "two-level,all_gather,2,4,1,1000,64,3\n"
        "two-level,all_gather,2,4,1,100000,64,4\n"
    )

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.samples = Path(self.folder.name, "samples.csv")
        self.choices = Path(self.folder.name, "choices.csv")

    def tearDown(self):
        self.folder.cleanup()

    def choose(self, samples, *more):
        self.samples.write_text(samples)
        call = [sys.executable, "-B", "-m", "stepwright_torch.choose", self.samples, *more]
        done = subprocess.run(
            [*call, "-o", self.choices], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    def test_are_the_fastest_sampled(self):
        self.assertEqual(self.choose(self.SAMPLES), (0, ""))
        found = read_choices(str(self.choices), [4, 2], ["ho-ring", "two-level"])
        self.assertEqual(
            found, [("all_gather", 10000.0, "gloo"), ("all_gather", math.inf, "ho-ring")]
        )
        self.assertEqual(read_choices(str(self.choices), [2, 2], ["ho-ring"]), [])
        self.assertEqual(read_choices("", [4, 2], ["ho-ring"]), [])

    def test_are_the_fastest_in_the_mean_of_runs(self):
        other = Path(self.folder.name, "other.csv")
        other.write_text(self.SAMPLES.replace("1000,0,1\n", "1000,0,9\n", 1))
        self.assertEqual(self.choose(self.SAMPLES, other), (0, ""))
        found = read_choices(str(self.choices), [4, 2], ["ho-ring", "two-level"])
        self.assertEqual(found, [("all_gather", math.inf, "ho-ring")])

    def test_say_where_samples_are_bad(self):
        code, error = self.choose(self.SAMPLES.replace("1000,0,1\n", "1000,0,soon\n", 1))
        self.assertEqual(code, 1)
        self.assertIn("samples.csv:2: seconds: 'soon'", error)
        code, error = self.choose("a,b\n1,2\n")
        self.assertIn("samples.csv:1: no column library", error)

    def test_say_where_a_file_is_bad(self):
        header = "operation,nodes,ranks_of_node,most_bytes,method\n"
        for row, expected in (
            ("all_gather,2,4,inf,nccl", "choices.csv:2: method: 'nccl' must be one of gloo"),
            ("gather,2,4,inf,gloo", "choices.csv:2: operation: 'gather'"),
            ("all_gather,2,4,0,gloo", "choices.csv:2: most_bytes: '0'"),
        ):
            self.choices.write_text(header + row + "\n")
            with self.assertRaisesRegex(ValueError, expected):
                read_choices(str(self.choices), [4, 2], ["ho-ring"])


if __name__ == "__main__":
    unittest.main()
