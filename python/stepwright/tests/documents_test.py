"""Jobs and plans are mappings that never change, and files that read back."""

import unittest

from place import JOB, PLAN, ROOT, PlaceTest

import stepwright


class Documents(PlaceTest):
    def test_are_the_mappings_of_their_files(self):
        job = stepwright.load(self.write("job.yaml", JOB))
        self.assertIsInstance(job, stepwright.Job)
        self.assertEqual(job["batch"], {"sequences": 64, "length": 4096})
        self.assertEqual(list(job), ["stepwright", "model", "cluster", "batch"])
        self.assertIn("llama-3-8b on 8 x", repr(job))

    def test_never_change(self):
        job = stepwright.Job(dict(stepwright.load(self.write("job.yaml", JOB))))
        job["batch"]["sequences"] = 1
        other = job.with_(batch={"sequences": 128})
        self.assertEqual(job["batch"]["sequences"], 64)
        self.assertEqual(other["batch"], {"sequences": 128, "length": 4096})

    def test_read_back_from_what_they_write(self):
        for document in (stepwright.load(PLAN), stepwright.load(self.write("job.yaml", JOB))):
            for name in ("written.yaml", "written.json"):
                document.save(self.folder / name)
                again = stepwright.load(self.folder / name)
                self.assertEqual(again, document)
                self.assertEqual(hash(again), hash(document))
        self.assertTrue(
            (self.folder / "written.yaml").read_text().startswith("stepwright: job/2\n")
        )

    def test_are_saved_where_a_link_leads(self):
        document = stepwright.load(PLAN)
        kept = self.write("kept.yaml", "old")
        kept.chmod(0o640)
        link = self.folder / "plan.yaml"
        link.symlink_to("kept.yaml")
        document.save(link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(stepwright.load(kept), document)
        self.assertEqual(kept.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(self.folder.iterdir()), [kept, link])

    def test_find_files_from_their_folder(self):
        config = (ROOT / "tests/model/configs/llama-2-7b.json").read_text()
        (self.folder / "models").mkdir()
        self.write("models/config.json", config)
        mapping = {
            "model": "models",
            "cluster": {"profile": "dgx-h100", "nodes": 1},
            "batch": {"sequences": 64, "length": 4096},
        }
        job = stepwright.Job(mapping, folder=self.folder)
        best = stepwright.tune(job, top=1).best
        self.assertEqual(stepwright.predict(best.plan).model.parameters, 6_738_415_616)
        with self.assertRaises(stepwright.InputError):
            stepwright.Job(mapping, folder=ROOT)

    def test_have_one_kind(self):
        with self.assertRaisesRegex(stepwright.InputError, "is a plan, and a job is needed"):
            stepwright.Job(dict(stepwright.load(PLAN)))


if __name__ == "__main__":
    unittest.main()
