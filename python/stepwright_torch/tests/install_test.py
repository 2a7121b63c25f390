"""pip installs the package beside the torch of this interpreter, and it works from there."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Install(unittest.TestCase):
    def test_pip_builds_a_package_that_works(self):
        with tempfile.TemporaryDirectory() as folder:
            # Without isolation no registry is asked; dependencies are installed already.
            options = ["--no-build-isolation", "--no-deps", "--quiet", "--target", folder]
            subprocess.run(
                [sys.executable, "-m", "pip", "install", *options, str(HERE.parent)], check=True
            )
            code = (
                "import stepwright_torch as s; print(s._C.__file__); import collectives_test as t;"
            )
            code += " t.on_ranks(t.large_call)"
            paths = os.pathsep.join([folder, str(HERE)])
            done = subprocess.run(
                [sys.executable, "-B", "-W", "ignore", "-c", code],
                env={**os.environ, "PYTHONPATH": paths},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(folder), done.stdout)


if __name__ == "__main__":
    unittest.main()
