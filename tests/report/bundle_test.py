"""The committed page is what its sources in web/ give, which keep format and types. Skipped where
there is no Node, or where its packages cannot be had. Runs in the root of the repository."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()
FOLDER = tempfile.TemporaryDirectory()
WEB = Path(FOLDER.name, "web")


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else "npm ci failed"


def hindrance() -> str | None:
    """Installs the packages beside a copy of the sources; why it cannot be, or None."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "no Node with npm is installed (sudo apt-get install nodejs npm)"
    shutil.copytree(ROOT / "web", WEB, ignore=shutil.ignore_patterns("node_modules"))
    command = ["npm", "ci", "--no-audit", "--no-fund"]
    installed = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    return (
        None
        if installed.returncode == 0
        else f"{last_line(installed.stderr)} (npm --prefix web ci)"
    )


class Bundle(unittest.TestCase):
    def test_the_committed_page_is_what_its_sources_give(self):
        page = Path(FOLDER.name, "page.html")
        subprocess.run(["node", "build.mjs", page], cwd=WEB, check=True)
        committed = ROOT / "stepwright" / "report" / "page.html"
        same = page.read_bytes() == committed.read_bytes()
        self.assertTrue(same, f"{committed} is not what web/ gives: run `make web`")

    def test_sources_have_the_format_and_types_that_are_checked(self):
        for script in ("check-format", "types"):
            command = ["npm", "--silent", "run", script]
            done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if (why := hindrance()) is not None:
        print("skipped:", why)
        sys.exit(77)
    unittest.main()
