"""Intervals of steps hold runs that they were not calibrated on."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/accuracy"))

import intervals
import numpy as np

NEAR, FAR = 0.05, 0.15  # deviations of logarithms


def runs(count: int, seed: int) -> list[intervals.Run]:
    """Runs of ten sources, half of which are of an unknown framework and err three times as far."""
    draw = np.random.default_rng(seed)
    made = []
    for k in range(count):
        unknown = k % 2
        made.append(
            intervals.Run(
                source=f"source{k % 10}",
                kind=(f"kind{k % 10}",),
                ratio=float(draw.normal(scale=FAR if unknown else NEAR)),
                unknown=unknown,
                experts=False,
                waits=0.0,
            )
        )
    return made


class Calibration(unittest.TestCase):
    def test_four_runs_of_five_of_a_source_left_out_are_inside(self) -> None:
        found = intervals.calibrated(runs(2000, 1), runs(2000, 2))
        for judged in found.judged:
            self.assertAlmostEqual(judged.inside / judged.rows, intervals.COVERED, delta=0.06)

    def test_what_is_unknown_is_as_much_wider_as_it_errs_farther(self) -> None:
        found = intervals.calibrated(runs(2000, 1), runs(2000, 2))
        self.assertAlmostEqual(found.factors["unknown"], FAR / NEAR, delta=0.3)
        self.assertEqual(found.factors["experts"], 1)
        widths = {judged.source: judged.width for judged in found.judged}
        self.assertLess(widths["source0"], widths["source1"])

    def test_a_kind_of_many_rows_weighs_as_one_of_few(self) -> None:
        one = runs(10, 3)
        many = one + [one[0]] * 500
        self.assertAlmostEqual(float(intervals.weights(many).sum()), 10)
        low, high = intervals.ends(one, np.zeros(3))
        self.assertEqual(intervals.ends(many, np.zeros(3)), (low, high))

    def test_a_source_does_not_move_its_own_ends(self) -> None:
        before = runs(400, 4)
        after = [
            intervals.Run(r.source, r.kind, 5.0, r.unknown, r.experts, r.waits)
            if r.source == "source0"
            else r
            for r in before
        ]
        factors = intervals.fit_factors(before)
        [own] = [j for j in intervals.judge(before, factors) if j.source == "source0"]
        [moved] = [j for j in intervals.judge(after, factors) if j.source == "source0"]
        self.assertEqual(own.width, moved.width)
        self.assertEqual(moved.inside, 0)

    def test_the_lines_are_those_of_a_file_of_conditions(self) -> None:
        found = intervals.Intervals(0.9, 1.25, {"unknown": 1.2, "experts": 2.0, "waits": 3.0}, [])
        self.assertEqual(
            found.lines(),
            [
                "intervals:",
                "  known: {low: 0.900, high: 1.250}",
                "  unknown: 1.2",
                "  experts: 2",
                "  waits: 3",
            ],
        )


if __name__ == "__main__":
    unittest.main()
