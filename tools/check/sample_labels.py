"""Draws labels of the explorer and of reports for a stranger to read.

    sample_labels.py [--seed 1] [--count 60] [--all] [--command build/release/stepwright]

A label is a name of a control, a heading, a button, a column, a word of a list, or a word of a
picture. Each is judged alone: does somebody who never saw the page know what it names? The same
seed draws the same labels of the same page; `--all` prints every label. Needs Chromium and a build;
without `make engine` the explorer runs over the planner compiled for this machine.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOB = """stepwright: job/2
model: {name: small, layers: 8, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000}
cluster: {profile: dgx-h100, nodes: 2}
batch: {sequences: 64, length: 2048}
"""
LONGEST_WAIT_S = 60
LLAMA = "examples/llama-3-70b.plan.yaml"
REPORTS = (
    ("tune", "JOB", "--sweep", "batch.sequences=64,128"),
    ("predict", LLAMA, "--set", "cluster.nic=2x"),
    ("interleave", LLAMA),
    ("study", "bandwidth", LLAMA),
    ("study", "utilization", LLAMA),
    ("study", "collectives", "dgx-h100", "--nodes", "1,4", "--bytes", "1MiB,1GiB"),
    ("validate", "data/own_memory_h100.csv"),
    ("characterize", "--log", "tests/logs/data/nccl_mixed.trace_rank0.json.gz"),
)
# Keeps what pictures write.
OVERHEAR = """window.written = new Set();
(draw => {
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.written.add(text);
    draw.call(this, text, ...place);
  };
})(CanvasRenderingContext2D.prototype.fillText)"""
# [part, label]: text of elements that name something, attributes that do, and words in pictures.
LABELS = """(() => {
  document.querySelectorAll('details').forEach(one => one.open = true);
  const named = `button, summary, legend, h1, h2, h3, th, option, caption, .control > span, .name,
    .rest, small, p, li, strong`;
  const lists = one => one.getAttribute('aria-label') ?? one.labels[0]?.innerText.split('\\n')[0];
  // Models and clusters are names, not labels.
  const isName = one => one.tagName === 'OPTION' &&
    /^(Model|Cluster)/.test(lists(one.parentElement));
  const shown = one => !isName(one) &&
    (one.tagName === 'OPTION' ? one.parentElement : one).checkVisibility();
  const own = one => [...one.childNodes].filter(node => node.nodeType === 3)
    .map(node => node.textContent).join(' ');
  const found = [...document.querySelectorAll(named)].filter(shown)
    .map(one => [one.tagName.toLowerCase(), own(one)]);
  for (const key of ['placeholder', 'title', 'aria-label']) {
    for (const one of document.querySelectorAll(`[${key}]`)) {
      if (shown(one)) found.push([key, one.getAttribute(key)]);
    }
  }
  for (const text of window.written ?? []) found.push(['picture', text]);
  return found;
})()"""
ANSWERED = """(({answered, thinking}) => answered !== undefined && thinking === undefined)(
  document.documentElement.dataset)"""
PRESS = (
    "[...document.querySelectorAll('button')].find(one => one.textContent.startsWith('%s')).click()"
)
CHOOSE = """(control => { control.value = %s; control.dispatchEvent(new Event('change')); })(
  document.querySelector('.panel [aria-label="%s"]'))"""
# Figures and names of things are no labels.
FIGURE = re.compile(r"[\d.,\s%+\u2212-]*(\w{1,6}(/s)?)?|[\d.,]+ [\w/]+( of .*)?")


def is_label(text: str) -> bool:
    """True for words, false for figures, codes and paths."""
    return bool(re.search(r"[a-z]{3}", text)) and not FIGURE.fullmatch(text) and len(text) < 200


def explorer_labels(tab, page: Path) -> list:
    """The labels of the explorer: all controls, all pictures, a refusal."""

    def wait(expression: str) -> None:
        end = time.monotonic() + LONGEST_WAIT_S
        while not tab.evaluate(expression):
            if time.monotonic() > end:
                sys.exit(f"the page never came to: {expression}")
            time.sleep(0.05)

    def settled() -> list:
        wait(ANSWERED)
        return tab.evaluate(LABELS)

    tab.open(page)
    found = settled()
    tab.evaluate(OVERHEAR)
    tab.evaluate("document.querySelector('[role=switch]').click()")
    for control, value in (
        ("Schedule", "auto"),
        ("Recompute", "none"),
        ("Framework", "megatron-core"),
        ("Precision", "mxfp8"),
    ):
        tab.evaluate("delete document.documentElement.dataset.answered")
        tab.evaluate(CHOOSE % (json.dumps(value), control))
        found += settled()
    tab.evaluate("delete document.documentElement.dataset.answered")
    tab.evaluate("history.back()")
    found += settled()
    tab.evaluate(PRESS % "Every picture")
    wait("document.getElementById('what-if') !== null")
    return found + settled()


def report_labels(tab, command: str, folder: Path) -> list:
    """The labels of reports of several commands."""
    found = []
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    for arguments in REPORTS:
        page = folder / "report.html"
        words = [str(folder / "job.yaml") if word == "JOB" else word for word in arguments]
        subprocess.run(
            [command, *words, "--report", page], cwd=ROOT, check=False, stdout=subprocess.DEVNULL
        )
        tab.open(page)
        tab.evaluate(OVERHEAR)
        tab.evaluate("window.dispatchEvent(new Event('resize'))")
        time.sleep(0.3)
        found += tab.evaluate(LABELS)
    return found


def main() -> int:
    """Prints the sample."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--command", default="build/release/stepwright")
    given = parser.parse_args()
    command = str(Path(given.command).absolute())
    os.environ.setdefault("STEPWRIGHT_COMMAND", command)
    sys.path[:0] = [str(ROOT / "tests/report"), str(ROOT / "tests/explore")]
    import browser
    import own_engine

    page, kind = own_engine.page_and_browser()
    if browser.found() is None or page is None:
        sys.exit("no Chromium, or nothing built")
    with tempfile.TemporaryDirectory() as folder, kind() as tab:
        found = explorer_labels(tab, page)
        with browser.Browser() as other:
            found += report_labels(other, command, Path(folder))
    labels = sorted(
        {(part, " ".join(text.split())) for part, text in found if text and is_label(text)}
    )
    drawn = labels if given.all else random.Random(given.seed).sample(labels, given.count)
    print(f"{len(labels)} labels, seed {given.seed}")
    for part, text in drawn:
        print(f"{part:12}  {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
