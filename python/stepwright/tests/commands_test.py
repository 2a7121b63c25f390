"""The functions have the options of the commands, and long ones can be watched and stopped."""

import enum
import importlib.util
import inspect
import os
import re
import signal
import subprocess
import sys
import threading
import unittest

from place import JOB, PLAN, ROOT, PlaceTest, printed

import stepwright

# Options that functions leave out, and why.
NOT_OF_PYTHON = {
    "tune": {
        "sweep",  # `sweep`
        "verbose",  # of text
        *("runs", "candidates", "next"),  # `advise`
    },
    "traffic": {"sweep"},  # a loop over `set`
    "predict": {"verbose"},  # an answer has all notes
    "phases": {"output", "verbose"},  # `answer.plan` saves itself
    "export": {"output"},  # the text is returned
    "check": {"from"},  # a word of Python's: `source`
    "import": {"from", "output"},  # `answer.plan` saves itself
}
# Arguments that are not options: files, and what only Python has.
NOT_OPTIONS = {
    "job",
    "plan",
    "table",
    "samples",
    "logs",
    "progress",
    "configurations",
    "source",
    "files",
    "command",
}


class Functions(PlaceTest):
    def test_have_all_options_of_their_command(self):
        functions = (
            "tune",
            "predict",
            "run",
            "phases",
            "traffic",
            "memory",
            "lengths",
            "validate",
            "fit",
            "compare",
            "diagnose",
            "check",
            "capture",
            "import",
            "export",
        )
        for name in functions:
            with self.subTest(name):
                text = printed(name, "--help")
                rows = re.findall(r"^  (?:-\w,)?--([\w-]+)", text, re.M)
                self.assertIn("help", rows)
                options = {row.replace("-", "_") for row in rows} - {"help", "json"}
                function = getattr(stepwright, "import_" if name == "import" else name)
                given = set(inspect.signature(function).parameters)
                options -= NOT_OF_PYTHON.get(name, set()) | {"log"}
                self.assertEqual(given - NOT_OPTIONS - options, set())
                self.assertEqual(options - given, set())

    def test_export_writes_what_the_command_does(self):
        plan = stepwright.load(PLAN)
        text = stepwright.export(plan, to="nccl-tuner", channels=16)
        words = ("export", "--to", "nccl-tuner", "--plan", PLAN, "--channels", 16)
        self.assertEqual(text, printed(*words))
        tiers = stepwright.export(to="msccl-xml", collective="all_reduce", tiers=(4, 2))
        self.assertIn("<algo", tiers)

    def test_phases_takes_plans_and_jobs(self):
        plan = stepwright.load(PLAN).with_(job={"objective": "dpo"})
        answer = stepwright.phases(plan)
        self.assertEqual([phase.phase for phase in answer.phases], ["reference", "update"])
        total = sum(phase.time_s for phase in answer.phases)
        self.assertAlmostEqual(answer.step_time_s, total, places=6)
        split = stepwright.phases(ROOT / "examples/grpo.yaml", threads=1)
        self.assertGreater(len(split.splits), 1)
        self.assertEqual(split.splits[0].step_time_s, split.step_time_s)

    def test_run_takes_plans_and_jobs(self):
        plan = stepwright.load(PLAN)
        answer = stepwright.run(plan, tokens=1e12, restart="20min", simulate=20)
        self.assertLess(answer.useful_low, answer.useful_share)
        self.assertEqual(answer.restart_s, 1200)
        self.assertAlmostEqual(answer.simulated.days / answer.days, 1, places=2)
        parts = [loss.days for loss in answer.losses] + [answer.steps_alone.days]
        self.assertAlmostEqual(sum(parts) / answer.days, 1)
        job = stepwright.load(self.write("job.yaml", JOB))
        of_job = stepwright.run(job, tokens=1e12)
        self.assertEqual(of_job.candidates[0].days, of_job.days)
        with self.assertRaises(stepwright.InputError):
            stepwright.run(plan, tokens=0)

    def test_lengths_are_those_of_the_command(self):
        data = self.write("data.jsonl", '{"ids": [1, 2, 3], "n": 7}\n{"ids": [4], "n": 9}\n')
        output = self.folder / "lengths.yaml"
        read = stepwright.lengths(data, "ids", output=output)
        self.assertEqual((read.documents, read.tokens, read.longest), (2, 4, 3))
        self.assertIn("- [3, 1]", output.read_text())
        joined = stepwright.lengths([output, data], "n")
        self.assertEqual((joined.documents, joined.tokens), (4, 20))
        with self.assertRaisesRegex(stepwright.InputError, "has no field 'text'"):
            stepwright.lengths(data, "text")

    def test_lengths_of_a_pipe_are_read(self):
        read, write = os.pipe()
        os.write(write, b'{"n": 7}\n{"n": 9}\n')
        os.close(write)
        self.addCleanup(os.close, read)
        self.assertEqual(stepwright.lengths(f"/dev/fd/{read}", "n").tokens, 16)

    @unittest.skipUnless(
        importlib.util.find_spec("pyarrow"), "pyarrow is not installed (tools/setup.sh test)"
    )
    def test_lengths_of_conversations_are_those_of_their_text(self):
        import pyarrow
        import pyarrow.parquet

        turns = [[{"role": "user", "content": "abcd"}, {"role": "assistant", "content": None}], []]
        parts = [[{"from": "human", "value": [{"type": "text", "text": "abcdef"}]}]]
        path = self.folder / "turns.parquet"
        for rows, documents, tokens in ((turns, 1, 2), (parts, 1, 3)):
            pyarrow.parquet.write_table(pyarrow.table({"m": rows}), path)
            made = stepwright.lengths(path, "m", characters_per_token=2)
            self.assertEqual((made.documents, made.tokens), (documents, tokens))
        with self.assertRaisesRegex(stepwright.InputError, "characters_per_token"):
            stepwright.lengths(path, "m")
        pyarrow.parquet.write_table(pyarrow.table({"m": [["a", "b"]]}), path)
        with self.assertRaisesRegex(stepwright.InputError, "token ids or of turns"):
            stepwright.lengths(path, "m")

    @unittest.skipUnless(
        importlib.util.find_spec("pyarrow"), "pyarrow is not installed (tools/setup.sh test)"
    )
    def test_lengths_of_parquet_are_those_of_lines(self):
        import pyarrow
        import pyarrow.parquet

        ids, words = [[1, 2, 3], [], [4]], ["\u00e4bc", "abcd", "abcde"]
        path = self.folder / "data.parquet"
        table = pyarrow.table({"ids": ids, "n": [5, 6, 5], "text": words, "x": [0.5] * 3})
        pyarrow.parquet.write_table(table, path)
        self.assertEqual(stepwright.lengths(path, "ids").tokens, 4)
        self.assertEqual(stepwright.lengths(path, "n").tokens, 16)
        read = stepwright.lengths(path, "text", characters_per_token=2)
        self.assertEqual((read.tokens, read.longest), (2 + 2 + 3, 3))
        for field, message in (("no", "no column"), ("text", "is text"), ("x", "not double")):
            with self.assertRaisesRegex(stepwright.InputError, message):
                stepwright.lengths(path, field)

    @unittest.skipUnless(
        importlib.util.find_spec("pyarrow"), "pyarrow is not installed (tools/setup.sh test)"
    )
    def test_lengths_of_parquet_lose_nothing_and_name_the_file(self):
        import pyarrow
        import pyarrow.parquet

        path = self.folder / "data"  # Its content says what it is.
        table = {"n": [0, 6, 5], "in": [{"n": 1}, {"n": 2}, {"n": 3}], "low": [-1, 2, 3]}
        pyarrow.parquet.write_table(pyarrow.table(table), path)
        read = stepwright.lengths(path, "n")
        self.assertEqual((read.documents, read.empty, read.tokens), (2, 1, 11))
        self.assertEqual(stepwright.lengths(path, "in.n").tokens, 6)
        nothing = self.folder / "nothing.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"n": [0]}), nothing)
        self.assertEqual(stepwright.lengths([nothing, path], "n").empty, 2)
        damaged = self.folder / "damaged.parquet"
        damaged.write_bytes(b"PAR1 and no more")
        for file, field, message in (
            (path, "low", "data: column 'low' must hold lengths from 0 .* -1"),
            (path, "in.m", "data: has no column 'in.m'"),
            (path, None, "data: field names"),
            (nothing, "n", "nothing.parquet: holds no document"),
            (damaged, "n", "damaged.parquet: cannot be read"),
            (self.folder / "none.parquet", "n", "none.parquet: cannot be read"),
        ):
            with self.assertRaisesRegex(stepwright.InputError, message):
                stepwright.lengths(file, field)

    def test_check_reads_files_plans_and_live_objects(self):
        class TrainingArguments:
            def to_dict(self):
                return {
                    "output_dir": "out",
                    "per_device_train_batch_size": 2,
                    "gradient_accumulation_steps": 4,
                    "bf16": True,
                    "fsdp": ["full_shard"],
                    "save_strategy": Strategy.STEPS,
                }

        class Strategy(enum.Enum):
            STEPS = "steps"

        options = {"model": "llama-3-8b", "cluster": "dgx-h100", "batch": "64x2048"}
        answer = stepwright.check(TrainingArguments(), **options)
        self.assertTrue(answer.starts)
        self.assertEqual(answer.plan["micro_batch"], 2)
        self.assertEqual(answer.plan["sharding"]["states"], "GGG")
        plan = stepwright.load(PLAN)
        self.assertAlmostEqual(
            stepwright.check(plan).step_time_s, stepwright.predict(plan).step_time_s
        )
        self.assertIsNotNone(stepwright.check(plan, gain=1e-6).fault)
        with self.assertRaises(stepwright.InputError):
            stepwright.check(TrainingArguments(), cluster="dgx-h100")

    def test_sweep_finds_the_best_plan_of_each_value(self):
        job = stepwright.load(self.write("job.yaml", JOB)).with_(framework="megatron-core")
        points = stepwright.sweep(job, "cluster.nodes", [1, 2], tokens=1e12, price_per_gpu_hour=2)
        self.assertEqual([point.value for point in points], [1, 2])
        for point in points:
            alone = stepwright.tune(job.with_(cluster={"nodes": point.value}), top=1)
            self.assertEqual(point.step_time_s, alone.best.step_time_s)
            self.assertEqual(point.cost, 2 * point.gpu_hours)

    def test_advise_learns_from_runs(self):
        head = "id,tp,micro_batch,outcome,measured_metric,measured_value"
        runs = self.write("runs.csv", f"{head}\na,2,1,ok,iteration_time_s,9\n")
        found = stepwright.advise(ROOT / "examples/inline-model.yaml", runs)
        self.assertEqual(found.runs.measured, 1)

    def test_files_are_written(self):
        trace = self.folder / "trace.json"
        stepwright.predict(ROOT / "examples/tiny-llama.plan.yaml", trace=trace)
        self.assertTrue(trace.read_text().startswith("{"))

    def test_the_program_is_inside(self):
        run = subprocess.run(
            [sys.executable, "-m", "stepwright", "memory", PLAN, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(run.stdout, printed("memory", PLAN, "--json"))
        run = subprocess.run([sys.executable, "-m", "stepwright", "tune", "none.yaml"], check=False)
        self.assertEqual(run.returncode, 2)


class LongCalls(PlaceTest):
    def test_tell_how_far_they_are(self):
        told = []
        stepwright.tune(self.write("job.yaml", JOB), progress=told.append)
        self.assertGreater(len(told), 1)
        self.assertGreater(told[-1].priced, 0)
        self.assertTrue(all(state.done <= state.most for state in told))

    def test_end_when_the_callback_raises(self):
        def stop(state):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            stepwright.tune(self.write("job.yaml", JOB), progress=stop)
        self.assertTrue(stepwright.tune(self.write("job.yaml", JOB), top=1).best.fits)

    def test_end_with_ctrl_c(self):
        def interrupt(state):
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            stepwright.tune(self.write("job.yaml", JOB), progress=interrupt)

    def test_let_other_threads_run(self):
        """Between two calls of the callback another thread has counted on."""
        job = self.write("job.yaml", JOB)
        count, counted_between, last = 0, False, None

        def look(state):
            nonlocal counted_between, last
            counted_between |= last is not None and count > last
            last = count

        thread = threading.Thread(target=lambda: stepwright.tune(job, progress=look))
        thread.start()
        while thread.is_alive():
            count += 1
        self.assertTrue(counted_between)


if __name__ == "__main__":
    unittest.main()
