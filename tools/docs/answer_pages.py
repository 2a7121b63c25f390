"""Adds a page of the site for each answer: every key of its JSON Schema, with type and meaning.

A hook of mkdocs. Nothing is written to docs/: docs/schemas/ is the only source. By hand:

    answer_pages.py COMMAND     prints the page of docs/schemas/COMMAND.json
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[2] / "docs/schemas"
FOLDER = "reference/answers"


def resolved(node: dict, root: dict) -> dict:
    """A schema with what its reference names laid under its own keys."""
    if not str(node.get("$ref", "")).startswith("#/$defs/"):
        return node
    named = root["$defs"][node["$ref"].rsplit("/", 1)[1]]
    both = {**named, **node}
    if "properties" in named or "properties" in node:
        both["properties"] = {**named.get("properties", {}), **node.get("properties", {})}
    return both


def type_of(node: dict, root: dict) -> str:
    """The type of a value in a few words: "list of object", "number or null"."""
    node = resolved(node, root)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return " ".join(f"`{word}`" for word in node["enum"])
    if "anyOf" in node:
        return " or ".join(dict.fromkeys(type_of(each, root) for each in node["anyOf"]))
    kind = node.get("type", "any")
    if kind == "array" and isinstance(node.get("items"), dict):
        return f"list of {type_of(node['items'], root)}"
    return " or ".join(kind) if isinstance(kind, list) else kind


def children(node: dict, root: dict, seen: tuple[str, ...]) -> Iterator[tuple[str, dict, tuple]]:
    """Values below a value: the suffix of their path, their schema and the definitions above."""
    reference = node.get("$ref", "")
    if reference in seen:
        return
    seen = (*seen, reference) if reference else seen
    node = resolved(node, root)
    for key, value in node.get("properties", {}).items():
        yield f".{key}", value, seen
    if isinstance(node.get("items"), dict):
        yield "[]", node["items"], seen
    for key in ("additionalProperties", "unevaluatedProperties"):
        if isinstance(node.get(key), dict):
            yield ".NAME", node[key], seen
    for each in node.get("anyOf", []):
        yield "", each, seen


def rows(node: dict, root: dict, path: str = "", seen: tuple[str, ...] = ()) -> Iterator[str]:
    """A row of the table for every key at or below a value, each path once."""
    for suffix, value, above in children(node, root, seen):
        if suffix.startswith("."):
            meaning = resolved(value, root).get("description", "").replace("|", "\\|")
            yield f"| `{(path + suffix).removeprefix('.')}` | {type_of(value, root)} | {meaning} |"
        yield from rows(value, root, path + suffix, above)


def page(name: str) -> str:
    """The page of an answer in Markdown."""
    root = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    head = [f"# {root.get('title', name)}", "", root.get("description", ""), ""]
    table = ["| key | type | meaning |", "|---|---|---|", *dict.fromkeys(rows(root, root))]
    return "\n".join(head + table) + "\n"


def names() -> list[str]:
    """The answers that have a schema."""
    return sorted(path.stem for path in SCHEMAS.glob("*.json"))


def on_files(files, config):
    """Adds the pages to those of docs/."""
    from mkdocs.structure.files import File

    for name in names():
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=page(name)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Ends the page of answers with links to the keys of each."""
    if page.file.src_uri != f"{FOLDER}.md":
        return markdown
    links = ", ".join(f"[{name}](answers/{name}.md)" for name in names())
    return f"{markdown}\n## All keys\n\n{links}\n"


if __name__ == "__main__":
    print(page(sys.argv[1]), end="")
