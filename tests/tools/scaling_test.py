"""tools/docs/scaling.py puts what a study says into words and tables."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/docs"))

import scaling


def point(nodes: int, ho_ring: float, rings: float) -> dict:
    """An all-reduce of 1 GiB; the ring's closed form is replaced by its simulation."""
    return {
        "operation": "all_reduce",
        "payload_bytes": 2.0**30,
        "nodes": nodes,
        "schedules": [
            {"name": "ring", "closed_s": 0.1, "simulated_s": 9.0},
            {"name": "rings", "closed_s": rings},
            {"name": "ho-ring", "closed_s": ho_ring},
        ],
        "ho_ring_gain": rings / ho_ring,
    }


class Words(unittest.TestCase):
    def test_the_rival_is_the_fastest_other_schedule_as_simulated(self):
        self.assertEqual(scaling.rival(point(2, 1.0, 1.5)), "rings")
        self.assertEqual(scaling.gain(point(2, 1.0, 1.5)), "1.50 rings")
        self.assertEqual(scaling.gain(point(2, 10.0, 0.25)), "0.025 rings")
        self.assertEqual(scaling.over_ho_ring(point(2, 3.0, 1.5), "ring"), 3.0)

    def test_wins_are_runs_of_numbers_of_nodes(self):
        gains = {2: 1.2, 4: 1.5, 8: 1.0, 16: 1.1, 32: 0.5}
        found = {"points": [point(n, 1.0, gain) for n, gain in gains.items()]}
        found["points"].insert(0, point(1, 1.0, 7.0))
        expected = "2-4, 16; most 1.50 rings at 4"
        self.assertEqual(scaling.winning(found, "all_reduce", "1 GiB"), expected)
        found = {"points": [point(2, 1.0, 0.9)]}
        expected = "nowhere; most 0.90 rings at 2"
        self.assertEqual(scaling.winning(found, "all_reduce", "1 GiB"), expected)

    def test_times_have_units(self):
        times = [scaling.time_text(t) for t in (1.5, 4.19e-3, 0.9999e-3, 1e-7)]
        self.assertEqual(times, ["1.5 s", "4.19 ms", "1 ms", "0.1 µs"])

    def test_differences_below_rounding_are_not_spelt_out(self):
        self.assertEqual([scaling.percent(d) for d in (1e-13, 0.0731)], ["< 0.01", "7.3"])

    def test_the_largest_difference_is_found(self):
        one = {"points": [point(2, 1.0, 1.5), point(4, 1.0, 2.0)]}
        other = {"points": [point(2, 1.0, 1.5), point(4, 1.0, 1.6)]}
        self.assertAlmostEqual(scaling.largest_difference(one, other, "rings"), 0.25)


if __name__ == "__main__":
    unittest.main()
