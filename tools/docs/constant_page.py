"""The page of the site with every constant of the unfitted cost model, its value and its source.

A hook of mkdocs adds it; nothing is written to docs/. The only source is
`stepwright/cost/laws/constants.h`.
By hand:

    constant_page.py      prints the page
"""

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "stepwright/cost/laws/constants.h"
PAGE = "constants.md"
HEAD = """# Constants

Computations of devices without samples ([models](models.md)), from
`stepwright/cost/laws/constants.h`.

| constant | value | source |
|---|---:|---|
"""
CONSTANT = re.compile(r"inline constexpr Constant k\w+\{(.*?)\};", re.S)
PART = re.compile(r'"((?:[^"\\]|\\.)*)"|(,)|([-+.\de]+)')


def fields(text: str) -> list[str]:
    """The fields of a constant; texts that follow each other are one."""
    found = [""]
    for words, comma, number in PART.findall(text):
        if comma:
            found.append("")
        else:
            found[-1] += words or number
    return found


def rows() -> list[tuple[str, str, str]]:
    """Name, value with its unit, and source of each constant."""
    found = []
    for match in CONSTANT.findall(SOURCE.read_text(encoding="utf-8")):
        name, value, unit, source = fields(match)
        found.append((name, f"{float(value):g} {unit}".strip(), source))
    return found


def page() -> str:
    """The page in Markdown."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows()]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
