"""Calibrates the intervals that hold four measured steps of five, on runs that no constant saw.

`fit_conditions.py` calls this module. A run has a distance: how many of its framework, generation
of devices and precision nothing shows, whether the model is a mixture of experts, and which share
of its step waits for messages, other stages or the host. The distance gives a scale,

    scale = unknown^parts * (experts if it is a mixture) * waits^share,

by which the logarithm of measured over predicted is divided. Fits without a source, a framework, a
generation or a kind of runs say what each factor is (`fit_factors`). Sources that took part in no
fit say how wide one scale is (`ends`): split conformal prediction. Kinds of runs count once each,
whatever their number of rows. `judge` repeats the second step without each of those sources, so
that its coverage is one of sources that the width has not seen.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

COVERED = 0.8  # share of the runs that an interval is to hold
LEAST_ERROR = 0.01  # of a logarithm, below which errors are alike
FIRST_STEP, LAST_STEP = 0.4, 0.02  # of a factor's logarithm, in the search


@dataclass(frozen=True)
class Run:
    """A run that its constants had not seen."""

    source: str
    kind: tuple  # rows of one kind share its weight
    ratio: float  # logarithm of measured over predicted
    unknown: int
    experts: bool
    waits: float

    @property
    def distance(self) -> tuple[float, float, float]:
        """What the logarithms of the factors are multiplied by."""
        return (self.unknown, float(self.experts), self.waits)


NAMES = ("unknown", "experts", "waits")  # of the factors, in the order of a distance


def weights(runs: list[Run]) -> np.ndarray:
    """Of each run, so that each kind has one."""
    count = Counter(run.kind for run in runs)
    return np.array([1 / count[run.kind] for run in runs])


def quantile(values: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The least value that a share of the weight does not exceed."""
    order = np.argsort(values)
    sums = np.cumsum(weight[order]) / weight.sum()
    at = int(np.searchsorted(sums, share - 1e-9))  # sums of many weights are not exact
    return float(values[order][min(len(values) - 1, at)])


def scales(runs: list[Run], factors: np.ndarray) -> np.ndarray:
    """The scale of each run, by the logarithms of the factors."""
    return np.exp(np.array([run.distance for run in runs]) @ factors)


def fit_factors(runs: list[Run]) -> np.ndarray:
    """Logarithms of the factors, none below 0: quantile regression of the logarithms of errors at
    the share that is to be held, by coordinate search."""
    weight = weights(runs)
    distances = np.array([run.distance for run in runs])
    sizes = np.log([max(LEAST_ERROR, abs(run.ratio)) for run in runs])

    def loss(factors: np.ndarray) -> float:
        left = sizes - distances @ factors
        left = left - quantile(left, weight, COVERED)
        sides = np.where(left > 0, COVERED * left, (COVERED - 1) * left)
        return float((weight * sides).sum() / weight.sum())

    best = np.zeros(len(NAMES))
    least, step = loss(best), FIRST_STEP
    while step > LAST_STEP:
        before = least
        for k in range(len(NAMES)):
            for change in (step, -step):
                trial = best.copy()
                trial[k] = max(0.0, trial[k] + change)
                found = loss(trial)
                if found < least - 1e-6:
                    least, best = found, trial
        if least == before:
            step /= 2
    return best


def ends(runs: list[Run], factors: np.ndarray) -> tuple[float, float]:
    """Logarithms of the ends of an interval of scale 1."""
    ratios = np.array([run.ratio for run in runs]) / scales(runs, factors)
    weight = weights(runs)
    return (
        min(0.0, quantile(ratios, weight, (1 - COVERED) / 2)),
        max(0.0, quantile(ratios, weight, (1 + COVERED) / 2)),
    )


@dataclass(frozen=True)
class Judged:
    """How an interval held runs of one source that it had not seen."""

    source: str
    rows: int
    inside: int
    weight_inside: float
    weight: float
    width: float  # median of high over low


def judge(runs: list[Run], factors: np.ndarray) -> list[Judged]:
    """Coverage of each source by the ends that all others give."""
    judged = []
    weight = weights(runs)
    for source in sorted({run.source for run in runs}):
        low, high = ends([run for run in runs if run.source != source], factors)
        own = [k for k, run in enumerate(runs) if run.source == source]
        scale = scales([runs[k] for k in own], factors)
        held = [
            low * size <= runs[k].ratio <= high * size for k, size in zip(own, scale, strict=True)
        ]
        judged.append(
            Judged(
                source=source,
                rows=len(own),
                inside=sum(held),
                weight_inside=float(weight[own][held].sum()),
                weight=float(weight[own].sum()),
                width=float(np.median(np.exp((high - low) * scale))),
            )
        )
    return judged


@dataclass(frozen=True)
class Intervals:
    """What the conditions of training say of intervals."""

    low: float
    high: float
    factors: dict[str, float]
    judged: list[Judged]

    def lines(self) -> list[str]:
        """The mapping of a file of conditions."""
        known = f"  known: {{low: {self.low:.3f}, high: {self.high:.3f}}}"
        return ["intervals:", known, *(f"  {k}: {v:.3g}" for k, v in self.factors.items())]

    def table(self) -> list[str]:
        """The report's table: sources with steps outside of their interval, and all together."""
        lines = [
            "| source with steps outside | rows | inside | high over low, median |",
            "|---|---|---|---|",
        ]
        missed = [j for j in self.judged if j.inside < j.rows]
        lines += [f"| {j.source} | {j.rows} | {j.inside} | {j.width:.2f} |" for j in missed]
        rows, inside = sum(j.rows for j in self.judged), sum(j.inside for j in self.judged)
        held = sum(j.weight_inside for j in self.judged) / sum(j.weight for j in self.judged)
        lines.append(f"| **all** | {rows} | {inside} | |")
        lines.append(
            f"\n{100 * inside / rows:.0f} % of the measured steps lie inside their interval; "
            f"{100 * held:.0f} % if each kind of runs counts once."
        )
        return lines


def calibrated(left_out: list[Run], unseen: list[Run]) -> Intervals:
    """The intervals by fits without the runs, and by sources that took part in none."""
    factors = fit_factors(left_out)
    low, high = ends(unseen, factors)
    return Intervals(
        low=math.exp(low),
        high=math.exp(high),
        factors=dict(zip(NAMES, np.exp(factors).tolist(), strict=True)),
        judged=judge(unseen, factors),
    )
