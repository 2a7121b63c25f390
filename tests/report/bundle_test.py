"""The committed page is what its sources in web/ give. Skipped where there is no Node, or where its
packages cannot be had."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()

if shutil.which("node") is None or shutil.which("npm") is None:
    print("skipped: no Node is installed")
    sys.exit(77)


class Bundle(unittest.TestCase):
    def test_the_committed_page_is_what_its_sources_give(self):
        with tempfile.TemporaryDirectory() as folder:
            web = Path(folder, "web")
            shutil.copytree(ROOT / "web", web, ignore=shutil.ignore_patterns("node_modules"))
            installed = subprocess.run(
                ["npm", "ci", "--no-audit", "--no-fund"], cwd=web, capture_output=True, text=True
            )
            if installed.returncode != 0:
                print("skipped: npm ci failed:", installed.stderr[-300:])
                sys.exit(77)
            page = Path(folder, "page.html")
            subprocess.run(["node", "build.mjs", page], cwd=web, check=True)
            committed = ROOT / "stepwright" / "report" / "page.html"
            self.assertTrue(
                page.read_bytes() == committed.read_bytes(),
                "stepwright/report/page.html is not what web/ gives: run `make web`",
            )


if __name__ == "__main__":
    unittest.main()
