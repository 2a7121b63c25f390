"""The module serves the explorer's page from its own folder, where wheels install it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

from place import PlaceTest

import stepwright

PAGE = "<!DOCTYPE html>\n<title>Not the explorer, but a page</title>\n"


class Serve(PlaceTest):
    def test_gives_the_page_beside_the_module(self):
        package = self.folder / "stepwright"
        shutil.copytree(Path(stepwright.__file__).parent, package)
        (package / "explorer.html").write_text(PAGE, encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-m", "stepwright", "serve", "--port", "0"],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                address = re.search(r"http://\S+", process.stdout.readline())[0]
                with urllib.request.urlopen(address) as answer:
                    self.assertEqual(answer.read().decode(), PAGE)
            finally:
                process.send_signal(signal.SIGINT)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
