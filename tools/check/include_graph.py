"""Which file includes which: cycles of folders, and the sources that a header reaches.

A header reaches a source that includes it, directly or through other headers.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

SOURCES = (".cpp", ".cu")
# Folders whose files include headers of stepwright/.
INCLUDERS = (
    "stepwright",
    "tests",
    "bench",
    "python/stepwright",
    "python/stepwright_torch",
    "web/engine",
)
SMALL_LINES = 20
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')

Graph = dict[str, list[tuple[int, str, bool]]]  # file -> its includes
Edge = tuple[str, str]  # folder that includes, folder that is included
Edges = dict[Edge, list[tuple[str, int, str]]]  # edge -> file, line and path of each include


def includes(source: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, path and whether it is quoted, of each include of a source."""
    for line, text in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
        if match := INCLUDE.match(text):
            yield line, match[2], match[1] == '"'


def graph(root: Path, folders: tuple[str, ...] = ("stepwright",)) -> Graph:
    """The includes of every file below these folders of a repository, in order of names."""
    paths = (path for folder in folders for path in (root / folder).rglob("*"))
    return {
        str(path.relative_to(root)): list(includes(path))
        for path in sorted(paths)
        if path.suffix in (".h", *SOURCES)
    }


def folder_of(path: str) -> str:
    """The folder of a file: `plan` at the top of the room, `plan/laws` in a subfolder of it."""
    return "/".join(path.split("/")[1:-1][:2])


def folder_edges(files: Graph) -> Edges:
    """The includes from one folder of a room to another folder of the same room."""
    edges = defaultdict(list)
    for name, lines in files.items():
        for line, path, _ in lines:
            edge = folder_of(name), folder_of(path)
            if edge[0] != edge[1] and path.split("/")[:2] == name.split("/")[:2]:
                edges[edge].append((name, line, path))
    return dict(edges)


def way(edges: Edges, start: str, end: str) -> list[str]:
    """The folders on a shortest way from start to end, both included; empty: there is no way."""
    before = {start: ""}
    queue = deque([start])
    while queue and end not in before:
        at = queue.popleft()
        for source, target in sorted(edges):
            if source == at and target not in before:
                before[target] = at
                queue.append(target)
    folders = [end] if end in before else []
    while folders and folders[-1] != start:
        folders.append(before[folders[-1]])
    return folders[::-1]


def cycles(edges: Edges) -> Iterator[tuple[Edge, list[str]]]:
    """Yields edges whose removal leaves no cycle, each with the cycle that it closes.

    Removes the edge with the fewest includes from the shortest cycle, until no cycle is left.
    """
    left = dict(edges)
    while True:
        ways = [way(left, target, source) for source, target in sorted(left)]
        cycle = min((folders for folders in ways if folders), key=len, default=None)
        if cycle is None:
            return
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        edge = min(steps, key=lambda step: (len(left[step]), step))
        start = cycle.index(edge[0])
        yield edge, [*cycle[start:], *cycle[:start], edge[0]]
        del left[edge]


def includers(files: Graph) -> dict[str, list[str]]:
    """Path -> the files that include it directly."""
    found = defaultdict(list)
    for name, lines in files.items():
        for path in sorted({path for _, path, _ in lines}):
            found[path].append(name)
    return found


def reach(by_path: dict[str, list[str]], header: str) -> int:
    """The number of sources that a header reaches."""
    seen = {header}
    queue = [header]
    while queue:
        for name in by_path.get(queue.pop(), []):
            if name not in seen:
                seen.add(name)
                queue.append(name)
    return sum(name.endswith(SOURCES) for name in seen)


def reach_list(files: Graph, header: str) -> list[str]:
    """The number of sources that a header reaches, and that of each header that includes it.

    With an empty name: the number of every header. Most first.
    """
    by_path = includers(files)
    listed = by_path[header] if header else list(files)
    counts = [(reach(by_path, name), name) for name in listed if name.endswith(".h")]
    lines = [f"{count:5} {name}" for count, name in sorted(counts, key=lambda x: (-x[0], x[1]))]
    if header:
        total = sum(name.endswith(SOURCES) for name in files)
        lines.insert(0, f"{header} reaches {reach(by_path, header)} of {total} sources, through:")
        lines.append(f"{sum(name.endswith(SOURCES) for name in listed):5} (no other header)")
    return lines


def is_own(header: str, name: str) -> bool:
    """True if a file is the source or the test of a header."""
    stem = header.removesuffix(".h")
    room, own = stem.split("/")[1], stem.split("/")[-1]
    is_test = name.startswith(f"tests/{room}/") and name.endswith(f"/{own}_test.cpp")
    return name in [stem + suffix for suffix in SOURCES] or is_test


def small_list(root: Path) -> list[str]:
    """The headers of fewer than `SMALL_LINES` lines that one file includes.

    A header's own source and test do not count.
    """
    files = graph(root, INCLUDERS)
    by_path = includers(files)
    found = []
    for header in files:
        if not (header.startswith("stepwright/") and header.endswith(".h")):
            continue
        others = [name for name in by_path[header] if not is_own(header, name)]
        lines = len((root / header).read_text(encoding="utf-8").splitlines())
        if len(others) == 1 and lines < SMALL_LINES:
            found.append(f"{header}: {lines} lines, only for {others[0]}")
    return found
