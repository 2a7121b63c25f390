"""Answers are what the command prints, byte for byte, with a type for every key."""

import dataclasses
import html.parser
import json
import subprocess
import sys
import unittest

from place import JOB, PLAN, ROOT, PlaceTest, printed
from stepwright.answer import Answer

import stepwright
from stepwright import answers

TABLE = "data/collectives/other_clusters.csv"


def without_clock(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if '"seconds":' not in line)


def json_of(part):
    """The JSON that a part was made from, but for the keys that it did not have."""
    if dataclasses.is_dataclass(part):
        pairs = (
            (field.metadata.get("key", field.name), getattr(part, field.name))
            for field in dataclasses.fields(part)
        )
        return {key: json_of(value) for key, value in pairs if value is not None}
    if isinstance(part, stepwright.Plan):
        return dict(part)
    if isinstance(part, dict):
        return {key: json_of(value) for key, value in part.items()}
    return [json_of(value) for value in part] if isinstance(part, list) else part


def without_null(value):
    if isinstance(value, dict):
        return {key: without_null(each) for key, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


class Answers(PlaceTest):
    def expect_same(self, answer: Answer, *arguments: object) -> None:
        text = printed(*arguments, "--json")
        self.assertEqual(without_clock(answer.text), without_clock(text))
        made, read = json_of(answer), without_null(json.loads(answer.text))
        for key in read:
            self.assertEqual(without_null(made.get(key)), read[key], key)

    def test_of_a_plan_are_the_commands(self):
        plan = stepwright.load(PLAN)
        self.expect_same(stepwright.predict(plan), "predict", PLAN)
        self.expect_same(stepwright.predict(PLAN), "predict", PLAN)
        self.expect_same(
            stepwright.predict(plan, set={"cluster.nic": "2x"}),
            *("predict", PLAN, "--set", "cluster.nic=2x"),
        )
        whole = stepwright.predict(plan, tokens=1e12, price_per_gpu_hour=2)
        self.expect_same(whole, *("predict", PLAN, "--tokens", 1e12, "--price-per-gpu-hour", 2))
        self.assertAlmostEqual(whole.days * 86400 * whole.tokens_per_s, 1e12, delta=1)
        self.assertEqual(whole.cost, 2 * whole.gpu_hours)
        self.expect_same(stepwright.memory(plan), "memory", PLAN)
        self.expect_same(
            stepwright.traffic(plan, rank=3, links=True),
            *("traffic", PLAN, "--rank", 3, "--links"),
        )

    def test_of_a_job_are_the_commands(self):
        path = self.write("job.yaml", JOB)
        job = stepwright.load(path)
        tuning = stepwright.tune(job, top=3, tokens=1e12, price_per_gpu_hour=2)
        self.expect_same(
            tuning, *("tune", path, "--top", 3, "--tokens", 1e12, "--price-per-gpu-hour", 2)
        )
        best = stepwright.predict(tuning.best.plan)
        self.assertEqual(best.step_time_s, tuning.best.step_time_s)
        self.assertEqual(best.peak_memory_bytes, tuning.best.peak_memory_bytes)
        self.assertEqual(best.tokens_per_s, tuning.best.tokens_per_s)

    def test_of_tables_are_the_commands(self):
        self.expect_same(stepwright.validate(TABLE), "validate", TABLE)
        rows = (ROOT / "data/operators/a100_sxm4_80g.csv").read_text().splitlines(True)[:400]
        table = self.write("a100_sxm4_80g.csv", "".join(rows))
        fitted = stepwright.fit(table, output=self.folder / "fit.json")
        self.expect_same(fitted, "fit", table, "-o", self.folder / "fit.json")
        self.assertIsInstance(fitted, stepwright.OperatorFit)
        self.assertIn(fitted.operators[0].pass_, ("forward", "backward"))

    def test_compare_counts_what_is_missing(self):
        ledger = {"stepwright": "ledger/1", "ranks": 4, "steps": 1, "communicators": []}
        log = self.write("sent.json", json.dumps(ledger))
        plan = ROOT / "examples/tiny-llama.plan.yaml"
        found = stepwright.compare(plan, log)
        self.expect_same(found, "compare", plan, "--log", log)
        self.assertGreater(len(found.differences), 0)

    def test_diagnose_names_the_rank_that_ended(self):
        log = ROOT / "tests/diagnose/data/exception/log.txt"
        found = stepwright.diagnose(log)
        self.expect_same(found, "diagnose", log)
        self.assertEqual(found.findings[0].ranks, [1])
        self.assertIsNone(found.plan)
        beside = stepwright.diagnose(stepwright.load(PLAN), log)
        self.assertGreater(beside.plan.step_time_s, 0)
        with self.assertRaises(stepwright.InputError):
            stepwright.diagnose(self.folder / "none.log")

    def test_types_are_those_of_the_schemas(self):
        tool = [sys.executable, ROOT / "tools/docs/python_answers.py", "--check"]
        run = subprocess.run(tool, capture_output=True, text=True, check=False)
        self.assertEqual((run.stdout, run.returncode), ("the same\n", 0), run.stderr)

    def test_an_unknown_key_is_an_error(self):
        with self.assertRaises(KeyError):
            answers.Spares.from_json({"nodes": 1, "cars": 2})


class Tables(PlaceTest):
    def test_rows_are_flat(self):
        row = stepwright.memory(PLAN).records()[0]
        self.assertEqual(
            row["peak_memory_bytes"], sum(v for k, v in row.items() if k.startswith("kinds."))
        )

    def test_frames_have_the_rows(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed (tools/setup.sh test)")
        messages = stepwright.traffic(PLAN)
        frame = messages.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        sent = (frame["count"] * frame["sent_bytes_per_rank"]).sum()
        total = sum(scheme.sent_bytes for scheme in messages.totals.values())
        self.assertAlmostEqual(sent / total, 1, 9)

    def test_notebooks_show_escaped_tables(self):
        job = stepwright.Job(
            {
                "model": {"base": "llama-3-8b", "name": "<script>alert(1)</script>"},
                "cluster": {"profile": "dgx-h100", "nodes": 1},
                "batch": {"sequences": 64, "length": 4096},
            }
        )
        seen = []

        class Reader(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                seen.append(tag)

        best = stepwright.tune(job, top=1).best
        for answer in (stepwright.predict(best.plan), stepwright.tune(job, top=2)):
            Reader().feed(answer._repr_html_())
        self.assertEqual(set(seen), {"table", "tr", "th", "td"})


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips
