"""The page of the site with every constant of the unfitted cost model, its value and its source.

A hook of mkdocs adds it; nothing is written to docs/. The only sources are
`stepwright/cost/laws/constants.h` and the files of `stepwright/cluster/generations/`.
By hand:

    constant_page.py      prints the page
"""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "stepwright/cost/laws/constants.h"
GENERATIONS = ROOT / "stepwright/cluster/generations"
PAGE = "constants.md"
HEAD = """# Constants

Computations of devices without samples ([models](models.md)), from
`stepwright/cost/laws/constants.h`.

| constant | value | source |
|---|---:|---|
"""
GENERATION = """
## {name}

`stepwright/cluster/generations/{file}`; [what each key means](reference/cluster.md#generation).

| key | value | source |
|---|---|---|
"""
CONSTANT = re.compile(r"inline constexpr DocumentedConstant k\w+\{(.*?)\};", re.S)
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


def figures(path: Path) -> list[tuple[str, str, str]]:
    """Key, value and source of each figure of a generation."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    sources = read.pop("source")
    found = []
    for key, value in read.items():
        if key in ("stepwright", "name"):
            continue
        parts = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            parts = [f"{part} {number}" for part, number in value.items()]
        words = ", ".join(map(str, parts)) or "none"
        found.append((key, words, sources if isinstance(sources, str) else sources.get(key, "")))
    return found


def table(rows: list[tuple[str, str, str]]) -> str:
    """The rows of a table in Markdown."""
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def page() -> str:
    """The page in Markdown."""
    parts = [HEAD + table(rows())]
    for path in sorted(GENERATIONS.glob("*.yaml")):
        name = yaml.safe_load(path.read_text(encoding="utf-8"))["name"]
        parts.append(GENERATION.format(name=name, file=path.name) + table(figures(path)))
    return "".join(parts)


if __name__ == "__main__":
    print(page(), end="")
