"""Plans that together take every pair of choices, drawn by seed: what a file may say beside what.

STEPWRIGHT_DRAWS: how many plans of each framework are drawn (tools/check/check_all.sh, `judges`);
STEPWRIGHT_SEED: the seed.
"""

import itertools
import os
import random
from collections.abc import Mapping, Sequence

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
