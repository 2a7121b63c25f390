"""Plans that together take every pair of choices, drawn by seed: what a file may say beside what.

STEPWRIGHT_DRAWS: how many plans of each framework are drawn (tools/check/check_all.sh, `judges`);
STEPWRIGHT_SEED: the seed.
"""

import itertools
import os
import random
import unittest
from collections.abc import Callable, Mapping, Sequence

Choices = Mapping[str, Sequence]
Draw = dict[str, object]
TRIED = 30  # Draws of which the one with most new pairs is taken.


def seed() -> int:
    return int(os.environ.get("STEPWRIGHT_SEED", "1"))


def count(usual: int) -> int:
    return int(os.environ.get("STEPWRIGHT_DRAWS", str(usual)))


def pairs_of(draw: Draw) -> set:
    return set(itertools.combinations(draw.items(), 2))


def drawn(choices: Choices, how_many: int) -> list[Draw]:
    """Draws of one value of each choice, those first that take most pairs not yet taken."""
    dice = random.Random(seed())
    taken: set = set()
    draws = []
    for _ in range(how_many):
        tried = [
            {name: dice.choice(list(values)) for name, values in choices.items()}
            for _ in range(TRIED)
        ]
        best = max(tried, key=lambda draw: len(pairs_of(draw) - taken))
        taken |= pairs_of(best)
        draws.append(best)
    return draws


def judge_each(
    case: unittest.TestCase,
    what: str,
    plans: Sequence[tuple[Draw, str]],
    write: Callable[[str], tuple[object, object]],
    judge: Callable[[object, Draw], None],
) -> None:
    """Each file that is written passes `judge`, and a quarter of them is written.

    `plans`: draws and the plan of each. `write` returns the folder that keeps a file, and what is
    judged; an AssertionError there is the command's refusal.
    """
    written, faults = 0, []
    for draw, plan in plans:
        try:
            _kept, file = write(plan)
        except AssertionError:
            continue
        written += 1
        try:
            judge(file, draw)
        except Exception as fault:
            faults.append(f"{type(fault).__name__}: {fault}\n{plan}")
    print(
        f"{what}: seed {seed()}, {len(plans)} plans, {written} written, {len(faults)} refused there"
    )
    case.assertFalse(faults, "\n\n".join(faults))
    case.assertGreater(4 * written, len(plans))
