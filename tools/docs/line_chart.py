"""A line chart as an SVG that stands alone, both axes logarithmic."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 76, 170, 36, 52
INNER_WIDTH, INNER_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
# Okabe and Ito's colours, told apart by everybody; black last.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")


@dataclass
class Curve:
    """Points (x, y), both above 0, under one name."""

    name: str
    points: list[tuple[float, float]] = field(default_factory=list)
    dashed: bool = False


@dataclass
class Axis:
    """What an axis shows, and how its ticks read."""

    title: str
    label: Callable[[float], str]
    low: float = 1
    high: float = 2

    def span(self, values: list[float]) -> None:
        """Covers the values."""
        self.low, self.high = min(values), max(values)
        if self.high <= self.low:
            self.low, self.high = self.low / 2, self.high * 2

    def share(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """At most eight, a power of two apart."""
        factor = 2 ** max(1, math.ceil(math.log2(self.high / self.low) / 7))
        steps = int(math.log(self.high * 1.001 / self.low) / math.log(factor))
        return [self.low * factor**i for i in range(steps + 1)]


def text(x: float, y: float, anchor: str, words: str, more: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>\n'


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A line between two places."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>\n'


def line_chart(title: str, x: Axis, y: Axis, curves: list[Curve]) -> str:
    """The chart; equal curves give equal text."""
    x.span([point[0] for curve in curves for point in curve.points])
    y.span([point[1] for curve in curves for point in curve.points])

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across, up = x.share(point[0]), y.share(point[1])
        return LEFT + INNER_WIDTH * across, TOP + INNER_HEIGHT * (1 - up)

    floor = TOP + INNER_HEIGHT
    out = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
    )
    out += text(LEFT, 20, "start", title, ' font-size="14" font-weight="bold"')
    for tick in y.ticks():
        down = place((x.low, tick))[1]
        out += line(LEFT, down, LEFT + INNER_WIDTH, down, "#dddddd")
        out += text(LEFT - 6, down + 4, "end", y.label(tick))
    for tick in x.ticks():
        across = place((tick, y.low))[0]
        out += line(across, floor, across, floor + 4, "#444444")
        out += text(across, floor + 18, "middle", x.label(tick))
    out += line(LEFT, floor, LEFT + INNER_WIDTH, floor, "#444444")
    out += text(LEFT + INNER_WIDTH / 2, HEIGHT - 12, "middle", x.title)
    out += (
        f'<text transform="translate(16 {TOP + INNER_HEIGHT / 2:.1f}) rotate(-90)" '
        f'text-anchor="middle">{escape(y.title)}</text>\n'
    )
    for i, curve in enumerate(curves):
        out += drawn(curve, i, [place(point) for point in curve.points])
    return out + "</svg>\n"


def drawn(curve: Curve, index: int, places: list[tuple[float, float]]) -> str:
    """One curve with its line of the legend."""
    colour = COLOURS[index % len(COLOURS)]
    out = "".join(
        f'<circle cx="{across:.1f}" cy="{down:.1f}" r="2.5" fill="{colour}" fill-opacity="1"/>\n'
        for across, down in places
    )
    dashes = ' stroke-dasharray="6 3"' if curve.dashed else ""
    corners = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
    out += (
        f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>\n'
    )
    across, down = LEFT + INNER_WIDTH + 14, TOP + 8 + 18 * index
    if curve.dashed:
        out += (
            f'<path d="M{across:.1f} {down - 2:.1f}h12" stroke="{colour}" stroke-width="4" '
            'stroke-dasharray="4"/>\n'
        )
    else:
        out += (
            f'<rect x="{across:.1f}" y="{down - 4:.1f}" width="12" height="4" fill="{colour}"/>\n'
        )
    return out + text(across + 18, down + 2, "start", curve.name)
