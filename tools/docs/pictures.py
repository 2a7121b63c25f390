"""Draws docs/pictures/: parts of real reports, in a headless Chromium.

    tools/docs/pictures.py --command build/release/stepwright

Run it again (`make pictures`) after a change of the page of reports or of what it shows.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/pictures"
WIDTH = 900
MOST_BYTES = 150_000

# Report, and its pictures: name, first and last element of the page (CSS selectors).
REPORTS = {
    ("tune", "examples/llama-3-70b.yaml"): [
        ("answer", ".lead", "#why ul"),
        ("alternatives", "#alternatives figure", "#alternatives figure"),
        ("trade_off", "#trade-off", "#trade-off figure"),
        ("time", "#time", "#time figure"),
        ("timeline", "#timeline", "#timeline figure"),
        ("memory", "#memory", "#memory figure"),
        ("traffic", "#traffic", "#traffic figure"),
        ("what_if", "#what-if", "#what-if figure"),
    ],
    ("tune", "examples/llama-3-70b.yaml", "--sweep", "cluster.nodes=4,8,16", "--tokens", "15e12"): [
        ("sweep", "#sweep", "#sweep figure"),
    ],
}
# From the top of one element to the bottom of another, over the width of the page.
CLIP = """(() => {
  const first = document.querySelector(%r).getBoundingClientRect();
  const last = document.querySelector(%r).getBoundingClientRect();
  const top = first.top + scrollY - 8;
  return {x: 0, y: top, width: document.documentElement.clientWidth,
          height: last.bottom + scrollY + 8 - top};
})()"""


def draw(browser, command: str, arguments: tuple, pictures: list) -> None:
    """Writes the pictures of one report."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        subprocess.run(
            [command, *arguments, "--report", page], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
        )
        browser.open(page, width=WIDTH)
        for name, first, last in pictures:
            path, drawn = FOLDER / f"{name}.png", Path(folder, f"{name}.png")
            browser.picture(drawn, browser.evaluate(CLIP % (first, last)))
            size = drawn.stat().st_size
            if size > MOST_BYTES:
                sys.exit(f"{path}: {size:,} bytes, more than {MOST_BYTES:,}")
            with replaced(path, binary=True) as file:
                file.write(drawn.read_bytes())
            print(f"{path.relative_to(ROOT)}: {size:,} bytes")


def main() -> int:
    """Draws all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    command = str(Path(parser.parse_args().command).absolute())
    sys.path.insert(0, str(ROOT / "tests/report"))
    import browser  # noqa: PLC0415: it is found once its folder is known

    if browser.found() is None:
        sys.exit("no Chromium is installed")
    FOLDER.mkdir(exist_ok=True)
    with browser.Browser() as tab:
        for arguments, pictures in REPORTS.items():
            draw(tab, command, arguments, pictures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
