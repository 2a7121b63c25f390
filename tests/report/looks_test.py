"""Pictures of a report look as they did: each is drawn from a committed answer, made small by the
browser and compared, cell by cell, with a committed one. Cells are averages over many pixels, so
that another font or another rasteriser differs little; colours, marks and places that change differ
much. Runs in the root of the repository; STEPWRIGHT_UPDATE_GOLDEN=1 takes the pictures anew."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import browser

if browser.found() is None:
    print("skipped: no Chromium is installed (tools/setup.sh test)")
    sys.exit(77)

FOLDER = Path(__file__).parent / "looks"
COMMAND = os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")
ACROSS, DOWN = 24, 16  # cells of a picture
MOST_MEAN = 4.0  # of 255: the mean difference of a cell's red, green or blue
FAR, MOST_FAR = 40, 0.04  # a cell differs by more than 40 of 255; at most 4 % of the cells do
PARTS = {
    "tiles": ".tiles",
    "time": "#time .chart",
    "timeline": "#timeline .chart",
    "memory": "#memory .chart",
    "traffic": "#traffic .chart",
    "what if": "#what-if .chart",
}
VIEWS = {"light": (1280, False), "dark": (1280, True), "narrow": (400, False)}
# Letters of another face, in pictures and beside them.
OTHER_FONT = """(() => {
  const {fillText} = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (...given) {
    this.font = this.font.replace(/px .*/, 'px serif');
    fillText.apply(this, given);
  };
  document.addEventListener('DOMContentLoaded', () => (document.body.style.fontFamily = 'serif'));
})()"""
CLIP = """(part => {
  const box = part.getBoundingClientRect();
  return {x: box.left + scrollX, y: box.top + scrollY, width: box.width, height: box.height};
})(document.querySelector(%r))"""
# The red, green and blue of each cell of a picture, in a tab of its own.
SHRINK = """(async (packed, across, down) => {
  const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const pen = canvas.getContext('2d');
  pen.drawImage(picture, 0, 0);
  const {data, width, height} = pen.getImageData(0, 0, picture.width, picture.height);
  const sums = new Float64Array(4 * across * down);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y * down / height) * across;
    for (let x = 0; x < width; x += 1) {
      const cell = 4 * (row + Math.floor(x * across / width));
      const pixel = 4 * (y * width + x);
      for (let i = 0; i < 3; i += 1) sums[cell + i] += data[pixel + i];
      sums[cell + 3] += 1;
    }
  }
  const cells = [];
  for (let cell = 0; cell < sums.length; cell += 4) {
    for (let i = 0; i < 3; i += 1) cells.push(Math.round(sums[cell + i] / sums[cell + 3]));
  }
  return cells;
})(%s, %d, %d)"""


def differences(ours: list, theirs: list) -> tuple[float, float]:
    """The mean difference of a value, and the share of cells of which one value differs by far."""
    values = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    cells = [max(values[i : i + 3]) for i in range(0, len(values), 3)]
    return sum(values) / len(values), sum(cell > FAR for cell in cells) / len(cells)


def is_alike(ours: list, theirs: list) -> bool:
    """True if no stranger would call the pictures different."""
    mean, far = differences(ours, theirs)
    return mean <= MOST_MEAN and far <= MOST_FAR


class Looks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.tab = cls.enterClassContext(browser.Browser())
        cls.desk = cls.enterClassContext(browser.Browser())
        cls.page = cls.folder / "report.html"
        if os.environ.get("STEPWRIGHT_UPDATE_GOLDEN"):
            cls.take_anew()
        content = (FOLDER / "content.json").read_text(encoding="utf-8").strip()
        cls.page.write_text(
            Path("stepwright/report/page.html").read_text("utf-8").replace("@CONTENT@", content),
            encoding="utf-8",
        )

    @classmethod
    def take_anew(cls):
        """Writes the answer that the pictures are drawn of."""
        command = [COMMAND, "predict", FOLDER / "plan.yaml", "--report", cls.page]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        text = cls.page.read_text(encoding="utf-8")
        start = text.index('<script id="content" type="application/json">')
        content = text[text.index(">", start) + 1 : text.index("</script>", start)]
        (FOLDER / "content.json").write_text(content + "\n", encoding="utf-8")

    def cells(self, part: str) -> list:
        """The cells of a part of the page that is open."""
        clip = self.tab.evaluate(CLIP % PARTS[part])
        path = self.folder / "part.png"
        self.tab.picture(path, clip)
        packed = base64.b64encode(path.read_bytes()).decode()
        return self.desk.evaluate(SHRINK % (json.dumps(packed), ACROSS, DOWN))

    def pictures(self, view: str) -> dict:
        """The cells of every part in a view."""
        width, dark = VIEWS[view]
        self.tab.open(self.page, width=width, dark=dark)
        return {part: self.cells(part) for part in PARTS}

    def test_every_picture_looks_as_it_did(self):
        for view in VIEWS:
            drawn = self.pictures(view)
            file = FOLDER / f"{view}.json"
            if os.environ.get("STEPWRIGHT_UPDATE_GOLDEN"):
                packed = {part: bytes(cells).hex() for part, cells in drawn.items()}
                file.write_text(json.dumps(packed, indent=1) + "\n", encoding="utf-8")
            kept = json.loads(file.read_text(encoding="utf-8"))
            for part, cells in drawn.items():
                with self.subTest(f"{view}, {part}"):
                    before = list(bytes.fromhex(kept[part]))
                    mean, far = differences(cells, before)
                    self.assertTrue(is_alike(cells, before), f"mean {mean:.1f}, far {far:.1%}")

    def changed(self, part: str, change: str) -> tuple[float, float]:
        """How much a part differs after a change of the page."""
        before = self.pictures("light")[part]
        self.tab.evaluate(change)
        self.tab.evaluate("new Promise(done => setTimeout(done, 100))")
        return differences(self.cells(part), before)

    def test_another_font_is_no_difference(self):
        before = self.pictures("light")
        script = self.tab.call("Page.addScriptToEvaluateOnNewDocument", source=OTHER_FONT)
        other = self.pictures("light")
        self.tab.call("Page.removeScriptToEvaluateOnNewDocument", **script)
        for part in PARTS:
            with self.subTest(part):
                mean, far = differences(other[part], before[part])
                self.assertGreater(mean, 0)
                self.assertTrue(is_alike(other[part], before[part]), f"{mean:.1f}, {far:.1%}")

    def test_what_a_person_sees_is_a_difference(self):
        colours = """for (const canvas of document.querySelectorAll('%s canvas')) {
          canvas.style.filter = 'hue-rotate(90deg)';
        }"""
        gone = "document.querySelector('%s').style.visibility = 'hidden'"
        moved = "document.querySelector('%s canvas').style.transform = 'translate(0, 40px)'"
        small = "document.querySelector('%s canvas').style.transform = 'scale(0.8)'"
        for part in ("time", "timeline", "memory"):
            for name, change in (
                ("colours", colours),
                ("gone", gone),
                ("moved", moved),
                ("small", small),
            ):
                with self.subTest(f"{part}, {name}"):
                    mean, far = self.changed(part, change % PARTS[part])
                    self.assertTrue(mean > MOST_MEAN or far > MOST_FAR, (mean, far))


if __name__ == "__main__":
    unittest.main()
