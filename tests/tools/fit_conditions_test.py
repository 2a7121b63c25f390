"""No row that judges a fit of the conditions of training has been fitted on."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/accuracy"))

import fit_conditions
import numpy as np

ROW = {
    "moe": "",
    "model": "m",
    "gpu": "g",
    "global_batch": "8",
    "seq_len": "8",
    "precision": "bf16",
}


class LinearFit(fit_conditions.Fit):
    """A fit whose predictions are linear in its constants, so that no command is needed."""

    def __init__(self) -> None:
        draw = np.random.default_rng(1)
        self.constants = fit_conditions.constants()[:6]
        self.prior = np.array([c.start for c in self.constants])
        self.precision = np.linalg.inv(self.covariance())
        self.ids = [f"source{k % 3}-{k:04d}" for k in range(90)]
        self.source = np.array([i.rsplit("-", 1)[0] for i in self.ids])
        self.framework = np.array([f"framework{k % 2}" for k in range(90)])
        self.generation = np.array([f"generation{k % 4}" for k in range(90)])
        self.kind = np.array([f"kind{k % 5}" for k in range(90)])
        self.weight = np.ones(90)
        self.slope = draw.normal(size=(90, 6))
        self.measured = self.slope @ draw.normal(scale=0.05, size=6)
        self.runs = type("Runs", (), {"rows": {i: ROW for i in self.ids}})
        self.results = {
            i: {"group": 3 * (k // 30) + k % 3, "plan": k} for k, i in enumerate(self.ids)
        }
        self.fitted_on: list[np.ndarray] = []
        self.judged_on: list[np.ndarray] = []

    def predict(self, x, ids=None):
        rows = [self.ids.index(i) for i in (self.ids if ids is None else ids)]
        return self.slope[rows] @ (x - self.prior)

    def jacobian(self, x, base):
        return self.slope

    def solve(self, x, base, jacobian, use, reach=fit_conditions.REACH):
        self.fitted_on.append(np.asarray(use, dtype=bool))
        return super().solve(x, base, jacobian, use, reach)

    def errors(self, x, rows):
        self.judged_on.append(np.asarray(rows, dtype=bool))
        return super().errors(x, rows)


class Split(unittest.TestCase):
    def test_rows_that_judge_are_not_fitted_on(self) -> None:
        fit = LinearFit()
        summary, tables = fit_conditions.judge(fit, fit.prior, fit_conditions.Report())
        self.assertEqual(list(tables), ["fitted", *summary])
        self.assertEqual(
            len(fit.fitted_on), 15
        )  # a quarter, 3 sources, 2 frameworks, 4 generations, 5 kinds
        self.assertEqual(len(fit.judged_on), 15)
        self.assertEqual(list(summary), ["source", "framework", "generation", "kind"])
        self.assertEqual([one["places"] for one in summary.values()], [3, 2, 4, 5])
        for one in summary.values():
            self.assertEqual(one["used"], 90)
            self.assertGreater(one["choices"]["groups"], 0)
        for fitted, judged in zip(fit.fitted_on, fit.judged_on, strict=True):
            self.assertTrue(judged.any())
            self.assertFalse((fitted & judged).any())

    def test_what_is_left_out_cannot_move_the_fit(self) -> None:
        fit = LinearFit()
        use = fit.source != "source1"
        before = fit.solve(fit.prior, fit.predict(fit.prior), fit.slope, use)
        fit.measured[~use] += 3
        after = fit.solve(fit.prior, fit.predict(fit.prior), fit.slope, use)
        np.testing.assert_array_equal(before, after)
        fit.measured[use] += 0.1
        moved = fit.solve(fit.prior, fit.predict(fit.prior), fit.slope, use)
        self.assertGreater(np.abs(moved - before).max(), 1e-3)

    def test_a_fit_finds_the_constants_that_made_the_rows(self) -> None:
        fit = LinearFit()
        found = fit.solve(fit.prior, fit.predict(fit.prior), fit.slope, np.ones(90))
        error = fit.slope @ (found - fit.prior) - fit.measured
        self.assertLess(np.abs(error).max(), 0.05)

    def test_what_no_row_shows_falls_to_the_middle_of_its_key(self) -> None:
        fit = LinearFit()
        fit.constants = [c for c in fit_conditions.constants() if c.key == "host_us"][:6]
        fit.prior = np.array([c.start for c in fit.constants])
        fit.precision = np.linalg.inv(fit.covariance())
        fit.slope = np.zeros((90, 6))
        fit.slope[:, :5] = np.eye(5)[np.arange(90) % 5]  # no row depends on the last one
        truth = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0])
        fit.measured = fit.slope @ truth
        found = fit.solve(fit.prior, fit.predict(fit.prior), fit.slope, np.ones(90)) - fit.prior
        self.assertGreater(found[5], 0.5)
        self.assertLess(found[5], 0.9)

    def test_choices_are_those_of_the_command(self) -> None:
        compared = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 6), (2, 7), (2, 7)]
        predicted = np.array([1, 2, 3, 1, 2, 3, 1, 2, 2.0])
        measured = np.array([10, 11, 12, 15, 10, 20, 1, 2, 3.0])
        found = fit_conditions.choices(
            compared, predicted, measured
        )  # as tests/validate/choices_test
        self.assertEqual((found["groups"], found["best_chosen"]), (2, 1))
        self.assertAlmostEqual(found["mean_regret"], 0.25)
        self.assertAlmostEqual(found["worst_regret"], 0.5)
        self.assertAlmostEqual(found["median_tau"], (1 + 1 / 3) / 2)

    def test_runs_left_out_are_farther_where_nothing_else_shows_them(self) -> None:
        fit = LinearFit()
        fit.framework = np.where(fit.source == "source0", "fsdp", "nanotron")
        fit.generation = np.array(["H100"] * 60 + ["A100"] * 30)
        tables = {word: np.zeros(90) for word in fit_conditions.groupings(fit)}
        results = {i: {"waiting_share": 0.25} for i in fit.ids}
        runs = fit_conditions.left_out_runs(fit, tables, results)
        self.assertEqual(len(runs), 4 * 90)
        self.assertEqual({run.waits for run in runs}, {0.25})
        # source0 alone has its framework; nanotron is of two sources.
        by_source = {run.source: run.unknown for run in runs if run.kind[0] == "source"}
        self.assertEqual(by_source, {"source0": 1, "source1": 0, "source2": 0})
        self.assertTrue(all(run.unknown == 1 for run in runs if run.kind[0] == "framework"))

    def test_the_grid_is_judged_with_and_without_its_pipelines_over_nodes(self) -> None:
        fit = LinearFit()
        self.assertEqual(len(fit_conditions.parts(fit, fit.weight > 0)), 3)  # no grid
        fit.source = np.where(fit.source == "source0", "playbook", fit.source)
        sizes = [("1", "64"), ("2", "8"), ("2", "16"), ("", "16")]  # of pipelines, devices
        fit.runs.rows = {
            i: ROW | dict(pp=pp, gpus=gpus, gpus_per_node="8")
            for i, (pp, gpus) in zip(fit.ids, (sizes[k // 3 % 4] for k in range(90)), strict=True)
        }
        parts = dict(fit_conditions.parts(fit, fit.weight > 0))
        expected = (fit.source == "playbook") & (np.arange(90) // 3 % 4 == 2)
        np.testing.assert_array_equal(parts[fit_conditions.PIPELINES], expected)
        np.testing.assert_array_equal(parts[f"all but {fit_conditions.PIPELINES}"], ~expected)

    def test_the_quarter_depends_on_ids_alone(self) -> None:
        ids = [f"row-{k}" for k in range(4000)]
        left = fit_conditions.left_out_by_hash(ids)
        self.assertAlmostEqual(left.mean(), 0.25, delta=0.03)
        np.testing.assert_array_equal(left[::-1], fit_conditions.left_out_by_hash(ids[::-1]))


class Start(unittest.TestCase):
    """A fit may begin where another ended."""

    def test_a_file_gives_back_its_logarithms(self) -> None:
        constants = fit_conditions.constants()
        moved = np.array([c.start for c in constants]) + 0.01
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "conditions.yaml")
            path.write_text(fit_conditions.file_text(constants, moved, "moved"), encoding="utf-8")
            found = fit_conditions.logarithms(constants, path)
        for constant, before, after in zip(constants, moved, found, strict=True):
            self.assertAlmostEqual(constant.value(before) / constant.value(after), 1, delta=1e-3)


if __name__ == "__main__":
    unittest.main()
