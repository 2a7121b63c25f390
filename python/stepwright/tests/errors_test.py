"""Every failure raises an exception of one hierarchy that names file, field and value."""

import inspect
import unittest

from place import JOB, PLAN, PlaceTest

import stepwright
from stepwright import argument_words


class Errors(PlaceTest):
    def raised(self, kind, action):
        with self.assertRaises(kind) as caught:
            action()
        self.assertIsInstance(caught.exception, stepwright.StepwrightError)
        return caught.exception

    def test_of_a_file_name_the_place(self):
        path = self.write("job.yaml", JOB.replace("sequences: 64", "sequences: many"))
        for action in (lambda: stepwright.load(path), lambda: stepwright.tune(path)):
            error = self.raised(stepwright.InputError, action)
            self.assertEqual((error.file, error.line, error.column), (str(path), 4, 20))
            self.assertEqual((error.field, error.value), ("batch.sequences", "many"))
            self.assertTrue(str(error).startswith(f"{path}:4:20: batch.sequences: must be"))

    def test_of_a_mapping_name_the_field(self):
        job = stepwright.load(self.write("job.yaml", JOB))
        error = self.raised(stepwright.InputError, lambda: job.with_(precision="bf17"))
        self.assertEqual((error.field, error.value), ("precision", "bf17"))
        self.assertIsInstance(error, ValueError)

    def test_of_what_is_missing_name_the_file(self):
        path = self.folder / "none.yaml"
        for action in (lambda: stepwright.load(path), lambda: stepwright.predict(path)):
            error = self.raised(stepwright.InputError, action)
            self.assertEqual(error.file, str(path))

    def test_of_a_file_are_the_sentences_of_the_command(self):
        loop = self.folder / "loop.yaml"
        loop.symlink_to(loop)
        for path, said in (
            (self.folder, "is a directory, not a file"),
            (loop, "cannot be read: Too many levels of symbolic links"),
            ("/dev/zero", "is a device, not a file"),
        ):
            error = self.raised(stepwright.InputError, lambda path=path: stepwright.load(path))
            self.assertEqual(str(error), f"{path}: {said}")
            self.assertEqual(error.file, str(path))

    def test_of_what_is_not_text_are_bad_input(self):
        path = self.folder / "job.yaml"
        path.write_bytes(b"\xff\xfe\x00")
        error = self.raised(stepwright.InputError, lambda: stepwright.load(path))
        self.assertEqual(error.file, str(path))

    def test_of_an_illegal_plan_name_the_rule(self):
        plan = stepwright.load(PLAN)
        with self.assertRaisesRegex(stepwright.InputError, "world-size"):
            stepwright.predict(plan.with_(parallel={"tensor": 3}))

    def test_of_an_unknown_field_name_the_nearest(self):
        with self.assertRaisesRegex(stepwright.InputError, "did you mean 'micro_batch'"):
            stepwright.predict(PLAN, set={"microbatch": 2})

    def test_of_wrong_arguments_are_bad_input(self):
        path = self.write("job.yaml", JOB)
        for options, said in (
            ({"top": 0}, "top: must be a number from 1 to "),
            ({"framework": "megatorn-core"}, "framework: must be one of "),
            ({"price_per_gpu_hour": 2}, "price_per_gpu_hour requires tokens"),
            ({"memory_reserve": 0.1, "memory_confidence": 0.9}, "memory_reserve excludes"),
        ):
            error = self.raised(
                stepwright.InputError, lambda options=options: stepwright.tune(path, **options)
            )
            self.assertIn(said, str(error))
            self.assertNotIn("--", str(error))
            self.assertIsNone(error.line)

    def test_of_the_command_name_arguments(self):
        words = argument_words.argument_words
        for said, meant in (
            ("--cluster is required: add --cluster NAME", "cluster is required: add cluster=NAME"),
            ("--log: is empty (stepwright check --help)", "logs: is empty"),
            ("by --set NAME=VALUE or --from", "by set=NAME=VALUE or source"),
            ("train.sh:3: --nodes 4: too many", "train.sh:3: --nodes 4: too many"),
            ("--num-layers 3 and --tensor-model-parallel-size",) * 2,
            ("`stepwright list models` or `stepwright check --capture -- x`",) * 2,
            ("#SBATCH --nodes=4",) * 2,
        ):
            self.assertEqual(words(said), meant)
        script = self.write("train.sh", "torchrun train.py\n")
        error = self.raised(stepwright.StepwrightError, lambda: stepwright.check(script))
        self.assertNotIn("--cluster", str(error))

    def test_know_the_arguments_of_all_functions(self):
        functions = (getattr(stepwright, name) for name in stepwright.__all__)
        arguments = {
            parameter.name
            for function in functions
            if inspect.isfunction(function)
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        words = {
            argument_words.argument_words(f"--{name.replace('_', '-')}")
            for name in (arguments - {"progress", "source", "logs"}) | {"from", "log"}
        }
        self.assertEqual(words, arguments - {"progress"})

    def test_of_what_is_no_document_are_type_errors(self):
        for action, said in (
            (lambda: stepwright.tune(None), "a job must be a path, a mapping or a Job, not None"),
            (lambda: stepwright.predict(5), "a plan must be a path, a mapping or a Plan, not int"),
        ):
            with self.assertRaisesRegex(TypeError, said):
                action()

    def test_of_what_is_known_but_not_covered_are_unsupported(self):
        job = JOB.replace("length: 4096", "length: 4096, packed: true")
        path = self.write("job.yaml", job)
        error = self.raised(stepwright.UnsupportedError, lambda: stepwright.tune(path))
        self.assertEqual(error.field, "batch.packed")
        self.assertIsInstance(error, NotImplementedError)

    def test_when_nothing_fits_carry_the_smallest_plan(self):
        job = JOB.replace("8b", "70b") + "search: {tensor: 1, pipeline: 1}\n"
        path = self.write("job.yaml", job)
        error = self.raised(stepwright.NothingFitsError, lambda: stepwright.tune(path))
        self.assertFalse(error.tuning.best.fits)
        self.assertGreater(error.tuning.best.over_by_bytes, 0)


if __name__ == "__main__":
    unittest.main()
