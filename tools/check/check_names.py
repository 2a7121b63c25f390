"""Prints each C++ name that breaks a rule of namespaces, with the file and line of it.

- A source of a room stands in the namespace of its room; core stands in `stepwright` itself.
- No type, constant or function is defined in two files under one name and namespace.
- No type of a room has a name that hides one of core.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TREES = ("stepwright", "tests", "bench", "python", "web/engine")
SUFFIXES = (".h", ".cpp", ".cu")
TOP = "stepwright"
CORE = "core"

NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # comments
    r"|R\"(\w*)\(.*?\)\1\""  # raw literals
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # literals
    r"|^[ \t]*#(?:\\\n|[^\n])*",  # the preprocessor's lines
    re.DOTALL | re.MULTILINE,
)
NAMESPACE = re.compile(r"(?:inline )?namespace ?([\w:]*)$")
TEMPLATE = re.compile(r"^template ?<.*?> ?(?=struct|class|inline|constexpr|\w)")
ALIAS = re.compile(r"using (\w+) =")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class| struct)?)\s+(\w+)\b(?!::|.*\))")
CONSTANT = re.compile(r"[^(=]*\bconst(?:expr)?\b[^(=]*?\b(k[A-Z]\w*)\b(?:\[[^\]]*\])*\s*(?:=|$)")
FUNCTION = re.compile(r"(?:^|[\s&*>])(~?\w+|operator\s*\S+)\s*\((.*)\)", re.DOTALL)
NOT_DEFINED = re.compile(r"(?:extern|using namespace|static_assert|friend|catch)\b|template ?<>")


@dataclass(frozen=True)
class Definition:
    """A name that a file defines in a namespace; `parameters` tell overloads apart."""

    scope: str
    name: str
    parameters: str = ""


@dataclass(frozen=True)
class Place:
    """Where a definition stands."""

    path: Path
    line: int


def blanked(text: str) -> str:
    """The text with comments, literals and preprocessor lines blank; lines stay where they are."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def heads(text: str) -> Iterator[tuple[str, str, int]]:
    """Namespace, head and line of each statement at the scope of a namespace that has a name.

    A head is what stands before the first brace, which is kept, or before the semicolon.
    """
    scopes: list[str] = []  # of open namespaces; "" for an unnamed one
    depth = 0  # of braces that open no namespace
    start = 0
    for mark in re.finditer(r"[{};]", text):
        if depth > 0:
            depth += {"{": 1, "}": -1, ";": 0}[mark[0]]
        elif mark[0] == "}":
            scopes = scopes[:-1]
        else:
            head = text[start : mark.start()]
            opened = NAMESPACE.search(head.strip()) if mark[0] == "{" else None
            if opened:
                scopes.append(opened[1])
            elif head.strip() and "" not in scopes:
                line = 1 + text.count("\n", 0, start + len(head) - len(head.lstrip()))
                yield "::".join(scopes), head.strip() + mark[0].strip(";"), line
            depth = int(mark[0] == "{" and not opened)
        if depth == 0:
            start = mark.end()


def definition(scope: str, head: str) -> Definition | None:
    """What a head defines; None for a declaration and for a member of a class."""
    has_body = head.endswith("{")
    head = re.sub(r"\s+", " ", head.removesuffix("{")).strip()
    if NOT_DEFINED.match(head):
        return None
    head = TEMPLATE.sub("", head)
    if match := ALIAS.match(head) or CONSTANT.match(head):
        return Definition(scope, match[1])
    if not has_body:
        return None
    if match := TYPE.match(head):
        return Definition(scope, match[1])
    match = FUNCTION.search(head)
    if match is None or head[: match.start(1)].rstrip().endswith("::") or "static " in head:
        return None
    return Definition(scope, match[1], re.sub(r"\s*=[^,]*|\b\w+(?=,|$)|\s", "", match[2]))


def is_in_wrong_namespace(path: Path, scope: str, rooms: set[str]) -> bool:
    """True if a file of a room defines a name in a namespace of the project that is not its own."""
    parts = scope.split("::")
    if parts[0] != TOP or path.parts[0] not in ("stepwright", "tests") or len(path.parts) < 3:
        return False
    room = path.parts[1]
    return room in rooms - {CORE} and parts[1:2] not in ([room], ["testing"])


def are_alternatives(one: Path, other: Path) -> bool:
    """True if a build takes one of the sources or the other: `x.cpp` and `x_alone.cpp`."""
    stems = {re.sub(r"_(alone|cuda|no_cuda)$", "", path.stem) for path in (one, other)}
    return len(stems) == 1 and one.suffix == other.suffix == ".cpp"


def definitions(root: Path) -> dict[Definition, list[Place]]:
    """All that the sources of a repository define at the scope of namespaces, and where."""
    found = defaultdict(list)
    for tree in TREES:
        for source in sorted((root / tree).rglob("*")):
            path = source.relative_to(root)
            if source.suffix not in SUFFIXES or "node_modules" in path.parts:
                continue
            for scope, head, line in heads(blanked(source.read_text(encoding="utf-8"))):
                if entry := definition(scope, head):
                    found[entry].append(Place(path, line))
    return found


def findings(root: Path) -> list[str]:
    """One line for each name that breaks a rule."""
    rooms = {path.parent.name for path in (root / "stepwright").glob("*/CMakeLists.txt")}
    known = definitions(root)
    core = {entry.name for entry in known if entry.scope == TOP and not entry.parameters}
    found = []
    for entry, places in known.items():
        if not entry.scope.startswith(TOP):
            continue
        first, name = places[0], f"{entry.scope}::{entry.name}"
        for at in places:
            where = f"{at.path}:{at.line}: "
            if is_in_wrong_namespace(at.path, entry.scope, rooms):
                found.append(f"{where}{name} belongs in namespace {TOP}::{at.path.parts[1]}")
            if at.path != first.path and not are_alternatives(at.path, first.path):
                found.append(f"{where}{name} is defined in {first.path} as well")
        is_type = entry.name[0].isupper() and not entry.parameters
        if is_type and entry.scope != TOP and entry.name in core:
            found.append(f"{first.path}:{first.line}: {name} hides {TOP}::{entry.name}")
    return sorted(found)


def main() -> int:
    """Checks the repository given as the argument, or else the one that holds this file."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = findings(root)
    print("\n".join(found) if found else "names: each is defined once, in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
