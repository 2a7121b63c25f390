"""Colours of pictures: kinds that are drawn together are told apart by everybody, also by people
who see no red (protanopia) or no green (deuteranopia), and marks on bars are read. Runs in the root
of the repository."""

import itertools
import json
import math
import shutil
import subprocess
import sys
import unittest

# Least difference (CIEDE2000) of areas with a line between them that are told apart at a glance.
LEAST_DIFFERENCE = 12
LEAST_CONTRAST = 4.5  # of text: WCAG 2.2, 1.4.3
LEAST_AREA_CONTRAST = 1.4  # of an area on the paper
READ = """import * as palette from "./web/src/palette.js";
const {light, dark, groups} = palette;
const colours = [...light.list, ...dark.list];
const text = Object.fromEntries(colours.map(one => [one, palette.textOn(one)]));
console.log(JSON.stringify({light, dark, groups, text}))"""
# Machado, Oliveira, Fernandes: "A Physiologically-based Model for Simulation of Color Vision
# Deficiency" (2009), severity 1, on linear RGB.
SIGHTS = {
    "all colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def product(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def linear(colour: str) -> list:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(a: str, b: str) -> float:
    low, high = sorted(product(TO_XYZ, linear(colour))[1] for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: list) -> tuple:
    white = product(TO_XYZ, [1, 1, 1])
    ratios = [value / of for value, of in zip(product(TO_XYZ, rgb), white, strict=True)]
    x, y, z = (r ** (1 / 3) if r > 216 / 24389 else (24389 / 27 * r + 16) / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour: str, sight: str) -> tuple:
    return lab([min(1, max(0, part)) for part in product(SIGHTS[sight], linear(colour))])


def difference(one: tuple, other: tuple) -> float:
    """CIEDE2000 (Sharma, Wu, Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    cos = [math.cos(math.radians(k * hue - by)) for k, by in ((1, 30), (2, 0), (3, -6), (4, 63))]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.2 * cos[3]
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rotation = 60 * math.exp(-(((hue - 275) / 25) ** 2))
    rt = -math.sin(math.radians(rotation)) * 2 * math.sqrt(cm**7 / (cm**7 + 25**7))
    dc = c2 - c1
    parts = ((l2 - l1) / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * dc / sc * dh / sh
    return math.sqrt(parts)


class Palette(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = ["node", "--input-type=module", "-e", READ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        cls.palette = json.loads(done.stdout)

    def test_a_difference_is_that_of_the_published_pairs(self):
        # Pairs 1, 7, 13 and 25 of the test data of Sharma, Wu and Dalal.
        for one, other, published in (
            ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
            ((50, 0, 0), (50, -1, 2), 2.3669),
            ((50, -0.001, 2.49), (50, 0.0009, -2.49), 4.8045),
            ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ):
            self.assertAlmostEqual(difference(one, other), published, places=4)

    def test_kinds_drawn_together_are_told_apart_by_everybody(self):
        for mode in ("light", "dark"):
            colours = self.palette[mode]["list"]
            for group, kinds in self.palette["groups"].items():
                used = sorted({place for place in kinds.values()})
                for (one, other), sight in itertools.product(
                    itertools.combinations(used, 2), SIGHTS
                ):
                    apart = difference(seen(colours[one], sight), seen(colours[other], sight))
                    said = f"{mode}, {group}, {sight}: {colours[one]} and {colours[other]}"
                    self.assertGreaterEqual(apart, LEAST_DIFFERENCE, said)

    def test_kinds_of_a_group_share_a_colour_only_where_they_are_never_drawn_together(self):
        alike = {
            frozenset(("backward", "data_gradient")),
            frozenset(("update", "optimizer")),
            frozenset(("control", "link inside a node")),
            frozenset(("tensor", "link of the network")),
        }
        for kinds in self.palette["groups"].values():
            for one, other in itertools.combinations(kinds, 2):
                if kinds[one] == kinds[other]:
                    self.assertIn(frozenset((one, other)), alike)

    def test_a_kind_has_one_colour_in_every_picture(self):
        places = {}
        for kinds in self.palette["groups"].values():
            for kind, place in kinds.items():
                self.assertEqual(places.setdefault(kind, place), place, kind)

    def test_marks_on_bars_and_bars_on_the_paper_are_seen(self):
        for mode in ("light", "dark"):
            for colour in self.palette[mode]["list"]:
                self.assertGreaterEqual(
                    contrast(colour, self.palette["text"][colour]), LEAST_CONTRAST
                )
                self.assertGreaterEqual(
                    contrast(colour, self.palette[mode]["paper"]), LEAST_AREA_CONTRAST
                )
            for kind in ("ink", "soft", "good", "bad"):
                said = contrast(self.palette[mode][kind], self.palette[mode]["paper"])
                self.assertGreaterEqual(said, LEAST_CONTRAST, f"{mode} {kind}")


if __name__ == "__main__":
    if shutil.which("node") is None:
        print("skipped: no Node is installed (sudo apt-get install nodejs)")
        sys.exit(77)
    unittest.main()
