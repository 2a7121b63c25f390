"""Nodes, shapes and settings."""

import unittest

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


if __name__ == "__main__":
    unittest.main()
