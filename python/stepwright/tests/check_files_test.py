"""`python -m stepwright.check_files` judges launch files one by one, as hooks and CI call it."""

import contextlib
import io
import unittest

from place import ROOT, PlaceTest
from stepwright.check_files import Verdict, main

GOOD = str(ROOT / "examples/llama-3-70b.megatron.sh")
SMALL = (
    "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 80 --hidden-size 8192 "
    "--num-attention-heads 64 --vocab-size 1024 --seq-length 4096 --bf16 "
    "--max-position-embeddings 4096 --global-batch-size 16\n"
)


def judged(*words: object) -> tuple[int, str]:
    """Exit code and output."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        code = main([str(word) for word in words])
    return code, shown.getvalue()


class CheckFiles(PlaceTest):
    def test_a_good_file_passes_with_its_time(self):
        code, said = judged(GOOD, "--cluster", "dgx-h100")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"starts and fits, [\d.]+ s a step \([\d.]+ to [\d.]+ s four times")

    def test_a_file_that_does_not_fit_fails_beside_a_good_one(self):
        script = self.write("full.sh", SMALL)
        code, said = judged(GOOD, script, "--cluster", "dgx-h100", "--github")
        self.assertEqual(code, 1)
        good, bad = said.splitlines()
        self.assertTrue(good.startswith(f"::notice file={GOOD},line=1,"), good)
        self.assertTrue(bad.startswith(f"::error file={script},line=1,"), bad)

    def test_a_file_of_no_job_fails_unless_it_may_be_passed_over(self):
        text = self.write("words.yaml", "a: 1\n")
        self.assertEqual(judged(text, "--cluster", "dgx-h100")[0], 1)
        self.assertEqual(judged(text, "--cluster", "dgx-h100", "--skip-unknown"), (0, ""))

    def test_an_annotation_stays_on_its_line(self):
        self.assertIn("a%25%0Ab", Verdict("f", 1, good=False, text="a%\nb").annotation())


if __name__ == "__main__":
    unittest.main()
