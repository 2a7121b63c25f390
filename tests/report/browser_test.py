"""Reports in a headless Chromium: they draw, complain of nothing, ask for nothing, say what
`--json` says, and stay readable on a narrow screen. Runs in the root of the repository;
STEPWRIGHT_COMMAND names the command."""

import base64
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import browser
import pdf_pictures

if browser.found() is None:
    print("skipped: no Chromium is installed (tools/setup.sh test)")
    sys.exit(77)

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>"
JOB = """stepwright: job/2
model: {name: "%s", layers: 8, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000}
cluster: {profile: dgx-h100, nodes: 2}
batch: {sequences: 64, length: 2048}
"""
TWO_RANKS = """stepwright: plan/2
job:
  model: {layers: 2, hidden: 64, heads: 4, ffn: 256, vocab: 256}
  cluster: {profile: dgx-h100, devices: 2}
  batch: {sequences: 8, length: 64}
parallel: {data: 2}
sharding: zero3
"""
LLAMA = "examples/llama-3-70b.plan.yaml"

# Part of the pixels of each chart that are drawn on, and a sum over them all.
INK = """[...document.querySelectorAll('.chart')].map(chart => {
  let drawn = 0, sum = 0, pixels = 0;
  for (const canvas of chart.querySelectorAll('canvas')) {
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    pixels = canvas.width * canvas.height;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] > 0) drawn += 1;
      sum = (sum * 31 + data[i] + 256 * data[i + 1] + 65536 * data[i + 2]) % 4294967291;
    }
  }
  return {share: drawn / pixels, sum};
})"""
TABLE = """[...document.querySelectorAll('table')].find(table =>
  table.caption.textContent === %s)"""
ROWS = f"[...{TABLE}.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"


def seconds(value: float) -> str:
    """As the page shows them."""
    for size, unit in ((86400, "days"), (3600, "h"), (1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= 0.9995 * size:
            scaled = value / size
            places = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
            return f"{scaled:.{places}f} {unit}"
    return f"{value}"


def gibibytes(value: float) -> str:
    scaled = value / 2**30
    return f"{scaled:.{0 if scaled >= 100 else 1 if scaled >= 10 else 2}f} GiB"


def without_seconds(answer):
    """An answer without the clock of its search."""
    if isinstance(answer, dict):
        return {k: without_seconds(v) for k, v in answer.items() if k != "seconds"}
    if isinstance(answer, list):
        return [without_seconds(each) for each in answer]
    return answer


def scan_lines(png: Path) -> int:
    """How many different lines a picture has."""
    data = png.read_bytes()
    at, packed, width = 8, b"", 0
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IHDR":
            width = int.from_bytes(data[at + 8 : at + 12])
            each = 1 + width * (4 if data[at + 17] == 6 else 3)
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    return len({raw[i : i + each] for i in range(0, len(raw), each)})


AXE = Path("web/node_modules/axe-core/axe.min.js")
RUN_AXE = """axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.map(
  one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`))"""


def violations(tab) -> list:
    """What axe holds against the page that is open; nothing where axe is absent (`make web`)."""
    if not AXE.exists():
        return []
    tab.evaluate(f"{AXE.read_text(encoding='utf-8')}; 0")
    return tab.evaluate(RUN_AXE)


def check_view(test, width: int) -> list:
    """What must be true of a page of pictures in `test.tab`; the ink of each."""
    test.assertEqual(test.tab.messages, [])
    test.assertLessEqual(test.tab.evaluate("document.documentElement.scrollWidth"), width)
    ink = test.tab.evaluate(INK)
    for chart in ink:
        test.assertGreater(chart["share"], 0.02)
    text = test.tab.evaluate("document.body.innerText")
    test.assertIsNone(re.search(r"undefined|NaN|\[object|n/a", text))
    test.assertEqual(violations(test.tab), [])
    return ink


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.tab = cls.enterClassContext(browser.Browser())
        cls.job = cls.folder / "job.yaml"
        cls.job.write_text(JOB % "small", encoding="utf-8")

    def report(self, *arguments: str) -> tuple[Path, dict]:
        """Writes a report; the file, and what `--json` printed beside it."""
        page = self.folder / "report.html"
        command = [COMMAND, *arguments, "--json", "--report", page]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return page, json.loads(done.stdout)

    def see(self, page: Path, width: int = 1280, dark: bool = False) -> list:
        """Opens a report; what must be true of any."""
        self.tab.open(page, width=width, dark=dark)
        self.assertEqual([url for url in self.tab.requests if not url.startswith("file:")], [])
        self.assertEqual(len(self.tab.requests), 1)
        self.assertEqual(self.tab.evaluate("document.documentElement.dataset.drawn"), "yes")
        return check_view(self, width)

    def rows(self, caption: str) -> list:
        return self.tab.evaluate(ROWS % json.dumps(caption))

    def embedded(self) -> dict:
        return json.loads(self.tab.evaluate("document.getElementById('content').textContent"))

    def test_a_search_draws_at_every_width_and_in_both_colours(self):
        page, _ = self.report("tune", str(self.job), "--sweep", "batch.sequences=64,128")
        for width in (1280, 400):
            drawn = {dark: self.see(page, width, dark) for dark in (False, True)}
            self.assertGreaterEqual(len(drawn[False]), 9)
            for light, dark in zip(drawn[False], drawn[True], strict=True):
                self.assertNotEqual(light["sum"], dark["sum"])
            self.assertEqual(self.see(page, width, True), drawn[True])
            self.tab.picture(self.folder / "page.png")
            self.assertGreater(scan_lines(self.folder / "page.png"), 500)

    def test_a_search_says_what_json_says(self):
        page, answer = self.report("tune", "examples/llama-3-70b.yaml")
        self.see(page)
        content = self.embedded()
        self.assertEqual(without_seconds(content["answer"]), without_seconds(answer))
        best = answer["plans"][0]
        tiles = self.tab.evaluate("document.querySelector('.tiles').innerText")
        self.assertIn(seconds(best["step_time_s"]), tiles)
        self.assertIn(gibibytes(best["peak_memory_bytes"]), tiles)
        told = self.rows("The best plan of each family against the best of all")
        for row, plan in zip(told, [best, *answer["alternatives"]], strict=True):
            self.assertEqual(row[1], seconds(plan["step_time_s"]))
            self.assertEqual(row[4], gibibytes(plan["peak_memory_bytes"]))
            more = 100 * (plan["step_time_s"] / best["step_time_s"] - 1)
            self.assertEqual(row[2], "the best" if plan is best else f"+{more:.1f}%")
        front = self.rows("Plans that none beats in both time and memory, fastest first")
        self.assertEqual(
            [row[1:] for row in front],
            [
                [seconds(p["step_time_s"]), gibibytes(p["peak_memory_bytes"])]
                for p in answer["pareto"]
            ],
        )

    def test_a_prediction_says_what_json_says(self):
        page, answer = self.report("predict", LLAMA, "--set", "cluster.nic=2x")
        self.see(page)
        content = self.embedded()
        self.assertEqual(content["answer"], answer)
        self.assertEqual(content["pictures"]["prediction"]["step_time_s"], answer["step_time_s"])
        told = self.rows("Before and after")
        self.assertEqual(told[0][1], seconds(answer["baseline"]["step_time_s"]))
        self.assertEqual(told[0][2], seconds(answer["step_time_s"]))
        stages = self.rows("Time of each pipeline stage, by kind")
        self.assertEqual(len(stages), len(answer["stages"]))
        for row, stage in zip(stages, answer["stages"], strict=True):
            products = stage["breakdown"]["computation"]["products_s"]
            self.assertEqual(row[1], seconds(products))
        peaks = self.rows("Memory of each stage at its peak, by kind")
        for row, stage in zip(peaks, answer["stages"], strict=True):
            self.assertEqual(row[-1], gibibytes(stage["peak_memory_bytes"]))

    def test_the_losses_are_those_of_the_prediction(self):
        page, answer = self.report("predict", LLAMA, "--tokens", "1e12")
        self.see(page)
        said = self.tab.evaluate("document.querySelector('#time').innerText")
        for loss in answer["losses"][:3]:
            self.assertIn(f"({seconds(loss['time_s'])}, {100 * loss['share']:.1f}%)", said)
        tiles = self.tab.evaluate("document.querySelector('.tiles').innerText")
        self.assertIn(f"{answer['days']:.3g} days", tiles)

    def test_every_other_command_draws_and_holds_its_answer(self):
        logs = Path("tests/logs/data")
        plan = self.folder / "two_ranks.yaml"
        plan.write_text(TWO_RANKS, encoding="utf-8")
        traces = [str(logs / f"fsdp2.trace.{rank}.json.gz") for rank in (0, 1)]
        schedules = "--stages 4 --micro-batches 8 --forward 1 --backward 2 --weight 1"
        for arguments in (
            ["interleave", LLAMA],
            ["study", "bandwidth", LLAMA],
            ["study", "utilization", LLAMA],
            ["study", "schedules", *schedules.split()],
            ["study", "collectives", "dgx-h100", "--nodes", "1,4", "--bytes", "1MiB,1GiB"],
            ["validate", "data/own_memory_h100.csv"],
            ["validate", "data/training_runs.csv", "--tier", "A"],
            ["characterize", "--log", str(logs / "nccl_mixed.trace_rank0.json.gz")],
            ["compare", str(plan), "--log", *traces],
        ):
            with self.subTest(" ".join(arguments)):
                page, answer = self.report(*arguments)
                for width, dark in ((1280, False), (400, True)):
                    self.assertGreaterEqual(len(self.see(page, width, dark)), 1)
                self.assertEqual(self.embedded()["answer"], answer)

    def test_a_comparison_says_what_was_predicted_of_measured_times(self):
        plan = self.folder / "two_ranks.yaml"
        plan.write_text(TWO_RANKS, encoding="utf-8")
        logs = Path("tests/logs/data")
        traces = [str(logs / f"fsdp2.trace.{rank}.json.gz") for rank in (0, 1)]
        page, answer = self.report("compare", str(plan), "--log", *traces)
        self.see(page)
        timed = [row for row in answer["by_scheme"] if "time_s" in row]
        self.assertGreater(len(timed), 0)
        for row, told in zip(timed, self.rows("Measured time by scheme"), strict=True):
            shown = [row["transfer_s"], row["predicted_s"]]
            self.assertEqual(told[2:4], [seconds(value) if value else "0 s" for value in shown])

    def test_a_diagnosis_holds_its_findings_with_their_sources(self):
        log = self.folder / "job.log"
        lines = [
            f" iteration {i}/ 99 | elapsed time per iteration (ms): 300000.0 | lm loss: 2.0"
            for i in range(1, 31)
        ]
        memory = "CUDA out of memory. Tried to allocate 2.00 GiB. " + HOSTILE
        log.write_text("\n".join([*lines, f"[rank3]: torch.OutOfMemoryError: {memory}\n"]))
        hang = [str(path) for path in sorted(Path("tests/diagnose/data/skipped_call").iterdir())]
        page, answer = self.report("diagnose", LLAMA, str(log), *hang)
        self.assertGreaterEqual(len(answer["findings"]), 3)
        for width in (1280, 400):
            self.see(page, width)
            titles = self.tab.evaluate("[...document.querySelectorAll('h2')].map(h => h.innerText)")
            for finding in answer["findings"]:
                self.assertIn(finding["what"], titles)
            text = self.tab.evaluate("document.body.innerText")
            for finding in answer["findings"]:
                for line in [*finding["evidence"], *finding["causes"]]:
                    self.assertIn(line, text)
                for change in finding["changes"]:
                    self.assertIn(change["words"], text)
            links = self.tab.evaluate("[...document.querySelectorAll('li a')].map(a => a.href)")
            self.assertTrue(all(link.startswith("https://") for link in links))
            self.assertGreater(len(links), 0)
        self.assertEqual(self.embedded()["answer"], answer)
        self.assertIn("0-3", [row[2] for row in self.rows("Files")])

    def test_a_report_of_many_rows_holds_some_of_them_and_says_so(self):
        profile = "gh200_120g_vista"
        table = "data/operators/gh200_120g.csv"
        page, answer = self.report("validate", table, "--profile", profile)
        self.see(page)
        shown = self.embedded()["answer"]["results"]
        self.assertLessEqual(len(shown), 5000)
        told = f"{len(shown):,} of {len(answer['results']):,} results"
        self.assertIn(told, self.tab.evaluate("document.body.innerText"))

    def test_small_and_impossible_jobs_draw(self):
        one = JOB.replace("nodes: 2", "devices: 1").replace("%s", "one")
        tight = JOB.replace("%s", "tight") + "objective: {memory_limit: 1GiB}\n"
        for text in (one, tight):
            self.job.with_name("other.yaml").write_text(text, encoding="utf-8")
            page, answer = self.report("tune", str(self.job.with_name("other.yaml")))
            self.see(page)
            self.assertEqual(answer["plans"][0]["fits"], text is one)
            said = self.tab.evaluate("document.body.innerText")
            self.assertEqual("Out of memory" in said, text is tight)

    def test_what_a_file_says_is_never_markup(self):
        hostile = self.folder / "hostile.yaml"
        hostile.write_text(JOB % HOSTILE, encoding="utf-8")
        page, _ = self.report("tune", str(hostile))
        self.see(page)
        self.assertIn(HOSTILE, self.tab.evaluate("document.querySelector('h1').textContent"))
        self.assertIn("stepwright tune", self.tab.evaluate("document.title"))
        self.assertEqual(self.tab.evaluate("document.images.length"), 0)

    def test_prints_on_white_what_the_screen_shows(self):
        page, _ = self.report("predict", LLAMA)
        self.see(page, dark=True)
        paper = "getComputedStyle(document.body).backgroundColor"
        on_screen = self.tab.evaluate(paper)
        dark = self.tab.evaluate(INK)
        self.tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        for drawn, printed in zip(dark, self.tab.evaluate(INK), strict=True):
            self.assertNotEqual(drawn["sum"], printed["sum"])
        self.tab.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.tab.evaluate(paper), "rgb(255, 255, 255)")
        self.assertNotEqual(on_screen, "rgb(255, 255, 255)")
        self.tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
        self.tab.call("Emulation.setEmulatedMedia", media="")
        self.assertEqual(self.tab.messages, [])

    def printed(self) -> tuple[list, list]:
        """The page that is open as a PDF: its pages and its pictures."""
        paper = base64.b64decode(self.tab.call("Page.printToPDF")["data"])
        return pdf_pictures.pages_and_pictures(paper)

    def check_printed(self, charts: int, most_pages: int):
        pages, pictures = self.printed()
        self.assertLessEqual(len(pages), most_pages)
        self.assertEqual(len(pictures), charts)
        for picture in pictures:
            page = pages[picture.page]
            margin = picture.left
            self.assertAlmostEqual(picture.width, page.width - 2 * margin, delta=3)
            self.assertLess(margin, 40)  # points
            self.assertGreaterEqual(picture.top, 0)
            self.assertLessEqual(picture.top + picture.height, page.height)
            self.assertGreaterEqual(picture.pixels[0], 2 * picture.width)
            self.assertGreater(picture.shades, 20)
            across = picture.pixels[0] / picture.pixels[1]
            self.assertAlmostEqual(picture.width / picture.height, across, delta=0.05 * across)
        for one, other in itertools.combinations(pictures, 2):
            if one.page == other.page:
                first, second = sorted((one, other), key=lambda picture: picture.top)
                self.assertLessEqual(first.top + first.height, second.top + 1)

    def test_every_chart_of_a_search_is_printed_as_wide_as_its_page(self):
        page, _ = self.report("tune", "examples/llama-3-70b.yaml")
        for width, dark in ((1280, False), (400, True)):
            charts = len(self.see(page, width=width, dark=dark))
            self.check_printed(charts, 6)

    def test_a_prediction_is_printed_with_its_charts(self):
        page, _ = self.report("predict", LLAMA, "--set", "cluster.nic=2x")
        self.check_printed(len(self.see(page)), 6)

    def test_the_timeline_zooms_by_keys(self):
        page, _ = self.report("predict", LLAMA)
        before = self.see(page)
        label = '.chart[aria-label="Timeline of one step"]'
        self.tab.evaluate(f"document.querySelector('{label}').focus()")
        self.tab.press("-")
        after = self.tab.evaluate(INK)
        self.assertEqual(sum(a != b for a, b in zip(before, after, strict=True)), 1)

    def spots(self, label: str) -> dict:
        """Where a chart lies in the window."""
        chart = f"document.querySelector('.chart[aria-label=\"{label}\"]')"
        self.tab.evaluate(f"{chart}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        box = self.tab.evaluate(f"{chart}.getBoundingClientRect().toJSON()")
        return {key: box[key] for key in ("left", "top", "width", "height")}

    def click(self, x: float, y: float, shift: bool = False):
        at = {"x": x, "y": y, "modifiers": 8 if shift else 0}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.tab.call("Input.dispatchMouseEvent", type=kind, **at, **button)

    def pinned(self, section: str = "#timeline") -> str:
        return self.tab.evaluate(f"document.querySelector('{section} .pinned').innerText")

    def test_a_slot_is_pinned_with_its_operators_and_measured_to_another(self):
        page, _ = self.report("predict", LLAMA)
        self.see(page)
        box = self.spots("Timeline of one step")
        at = (box["left"] + 0.5 * box["width"], box["top"] + 0.45 * box["height"])
        self.click(*at)
        said = self.pinned()
        self.assertRegex(said, r"Pinned: (Forward|Backward), stage \d+\.")
        self.assertIn("Operators of one", said)
        self.click(at[0] + 0.3 * box["width"], at[1], shift=True)
        self.assertRegex(
            self.pinned(), r"From the start of the earlier bar .*: [\d.]+ m?s; between"
        )
        self.tab.evaluate("document.querySelector('#timeline .chart').focus()")
        self.tab.press("Escape")
        self.assertEqual(self.pinned(), "")
        self.tab.press("n")
        first = self.pinned()
        self.tab.press("n")
        self.assertNotEqual(first, self.pinned())

    def test_bars_are_found_by_their_words(self):
        page, _ = self.report("predict", LLAMA)
        self.see(page)
        find = """(field => {
          field.value = %s;
          field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
        })(document.querySelector('#timeline input[type=search]'))"""
        told = "document.querySelector('#timeline .beside output').textContent"
        self.tab.evaluate(find % '"backward stage 0 micro-batch 3"')
        self.assertRegex(self.tab.evaluate(told), r"1 of \d+")
        self.assertIn("Backward, stage 0", self.pinned())
        self.tab.evaluate(find % '"no such thing"')
        self.assertEqual(self.tab.evaluate(told), "nothing found")

    def test_a_timeline_of_many_bars_draws_no_more_marks_than_its_pixels(self):
        plan = self.folder / "many.yaml"
        text = Path(LLAMA).read_text(encoding="utf-8")
        plan.write_text(re.sub(r"sequences: \d+", "sequences: 2048", text), encoding="utf-8")
        page, _ = self.report("predict", str(plan))
        self.see(page)
        timeline = self.embedded()["pictures"]["timeline"]
        bars = sum(len(r["bars"]) for r in timeline["rows"] if r["lane"] == "compute") // 5
        rows = sum(r["lane"] == "compute" for r in timeline["rows"])
        self.assertGreater(bars, 10_000)
        self.tab.evaluate("""window.fills = 0; (fill => {
          CanvasRenderingContext2D.prototype.fill = function (...given) {
            window.fills += 1; fill.apply(this, given);
          };
        })(CanvasRenderingContext2D.prototype.fill)""")
        self.tab.evaluate("document.querySelector('#timeline .chart').focus()")
        self.tab.press("0")
        self.tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        kinds = 4
        self.assertLess(self.tab.evaluate("window.fills"), 2 * kinds * rows * 1200)
        self.assertGreater(self.tab.evaluate("window.fills"), 0)

    def test_each_kind_of_parallelism_is_shown_alone_in_the_matrix(self):
        page, _ = self.report("predict", LLAMA)
        self.see(page)
        traffic = self.embedded()["pictures"]["traffic"]
        told = self.rows("Diagonals of the matrix: how far apart sender and receiver are")
        self.assertEqual(
            [row[0] for row in told], [f"{s['scheme']}-parallel" for s in traffic["schemes"]]
        )
        before = self.tab.evaluate(INK)
        choose = """(select => {
          select.value = %s; select.dispatchEvent(new Event('change'));
        })(document.querySelector('#traffic select'))"""
        for one in traffic["schemes"]:
            self.tab.evaluate(choose % json.dumps(one["scheme"]))
            after = self.tab.evaluate(INK)
            self.assertEqual(sum(a != b for a, b in zip(before, after, strict=True)), 1)
            pairs = len(one["cells"])
            caption = "All pairs" if pairs <= 40 else f"The largest 40 of {pairs} pairs"
            self.assertEqual(len(self.rows(caption)), min(40, pairs))

    def test_the_reasons_of_a_search_come_before_its_statistics(self):
        page, answer = self.report("tune", "examples/llama-3-70b.yaml")
        self.see(page)
        first = self.tab.evaluate(
            "[...document.querySelectorAll('#why ul:first-of-type li')].map(one => one.textContent)"
        )
        self.assertGreater(len(first), 1)
        for sentence in first:
            self.assertRegex(sentence, r"^[\w-]+ \S+, not \S+: (saves|as fast|that needs)")
        best, *others = [*answer["plans"], *answer["alternatives"]]
        for key in ("tensor", "pipeline", "context"):
            values = {plan["plan"]["parallel"].get(key, 1) for plan in others}
            own = best["plan"]["parallel"].get(key, 1)
            told = any(sentence.startswith(f"{key} {own}, not ") for sentence in first)
            self.assertEqual(told, bool(values - {own}))

    def test_pages_have_nothing_to_hold_against_their_accessibility(self):
        page, _ = self.report("tune", str(self.job), "--sweep", "batch.sequences=64,128")
        for width, dark in ((1280, False), (1280, True), (400, False)):
            self.see(page, width, dark)
            self.tab.evaluate(
                "document.querySelectorAll('details').forEach(one => one.open = true)"
            )
            self.assertEqual(violations(self.tab), [])

    def test_another_stage_can_be_chosen(self):
        page, _ = self.report("predict", LLAMA)
        before = self.see(page)
        choose = """(select => {
          select.selectedIndex = 1; select.dispatchEvent(new Event('change'));
        })(document.querySelector('#timeline select'))"""
        self.tab.evaluate(choose)
        self.assertNotEqual(before, self.tab.evaluate(INK))
        self.assertEqual(self.tab.messages, [])


if __name__ == "__main__":
    unittest.main()
