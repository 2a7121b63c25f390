"""Prints file:line of each include under stepwright/ that breaks a rule of the house.

A room includes only rooms below it. The folders of a room include each other in no cycle; the
files at the top of a room are one folder. A header with a limit reaches fewer sources than the
limit: a header reaches a source that includes it, directly or through other headers.

    check_includes.py [ROOT]                   checks
    check_includes.py [ROOT] --reach HEADER    counts the sources that a header reaches
    check_includes.py [ROOT] --reach           counts the sources that each header reaches
    check_includes.py [ROOT] --small           lists short headers that only one file includes
"""

import argparse
import re
import sys
from pathlib import Path

from include_graph import (
    Graph,
    cycles,
    folder_edges,
    graph,
    includers,
    reach,
    reach_list,
    small_list,
)

# Room -> rooms directly below it; what those may use, it may use too.
BELOW = {
    "core": "",
    "launch_scripts": "core",
    "capture": "launch_scripts",
    "checkpoint": "core",
    "model": "core",
    "cluster": "core",
    "collective": "cluster",
    "schedule": "core",
    "packing": "core",
    "plan": "model collective schedule packing",
    "huggingface": "plan checkpoint",
    "framework_files": "huggingface launch_scripts",
    "step": "plan",
    "transport": "collective",
    "process_group": "transport",
    "cost": "step",
    "fit": "cost logs",
    "traffic": "step",
    "logs": "traffic",
    "diagnose": "cost snapshot",
    "memory": "step",
    "snapshot": "logs memory",
    "simulate": "cost memory",
    "interleave": "simulate",
    "tune": "simulate",
    "whole_run": "tune",
    "phases": "tune",
    "study": "tune",
    "validate": "tune fit framework_files",
    "learn": "validate",
    "report": "simulate traffic",
    "check": "framework_files tune",
    "explore": "capture check report whole_run",
    "collective_files": "cost",
    "runtime": "memory huggingface process_group",
    "sample": "runtime cost",
    "lab": "cluster",
    "serve": "core",
    "mcp": "core",
    "answers": "capture check diagnose learn logs phases report snapshot whole_run",
    "cli": "answers checkpoint fit study interleave collective_files sample lab serve mcp",
}
TORCH_ROOMS = ("process_group", "runtime", "sample")
TORCH = re.compile(r"(torch|ATen|c10|caffe2|gloo)/")
HEAVY = re.compile(r"((yaml-cpp|nlohmann|CLI)/(?!json_fwd\.hpp)|pugixml|simdjson)")

# Header -> limit on the sources that it reaches, all of which a change of the header compiles.
REACH = {"stepwright/schedule/kinds.h": 300}


def reachable(room: str) -> set[str]:
    """The room itself and every room that it may use."""
    return {room}.union(*(reachable(below) for below in BELOW[room].split()))


def problem(room: str, is_header: bool, path: str, quoted: bool) -> str | None:
    """What is wrong with one include, or None."""
    if path.startswith("stepwright/"):
        target = path.split("/")[1]
        if target not in reachable(room):
            return f"{room}/ may not use {target}/"
    elif quoted:
        return f'"{path}" is not a path from the repository root'
    if TORCH.match(path) and room not in TORCH_ROOMS:
        return f"only {', '.join(TORCH_ROOMS)} may know <{path}>"
    if HEAVY.match(path) and is_header:
        return f"<{path}> is too heavy for a header"
    return None


def room_findings(files: Graph) -> list[str]:
    """One line for each include that breaks a rule of rooms, and for each file in no known room."""
    found = []
    for name, lines in files.items():
        room = name.split("/")[1]
        if room not in BELOW:
            found.append(f"{name}:1: {room} is not a room")
            continue
        for line, path, quoted in lines:
            if what := problem(room, name.endswith(".h"), path, quoted):
                found.append(f"{name}:{line}: {what}")
    return found


def cycle_findings(files: Graph) -> list[str]:
    """One line for each include that closes a cycle between the folders of a room."""
    edges = folder_edges(files)
    return [
        f"{name}:{line}: <{path}> closes the cycle {' -> '.join(cycle)}"
        for edge, cycle in cycles(edges)
        for name, line, path in edges[edge]
    ]


def reach_findings(files: Graph, limits: dict[str, int]) -> list[str]:
    """One line for each header that reaches as many sources as its limit, or more."""
    by_path = includers(files)
    counts = {header: reach(by_path, header) for header in limits}
    return [
        f"{header}:1: reaches {count} sources; fewer than {limits[header]} are allowed"
        for header, count in counts.items()
        if count >= limits[header]
    ]


def findings(root: Path) -> list[str]:
    """One line for each include, file or header that breaks a rule."""
    files = graph(root)
    return room_findings(files) + cycle_findings(files) + reach_findings(files, REACH)


def main() -> int:
    """Checks or lists the repository given as the argument, or the one that holds this file."""
    home = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=home, metavar="ROOT")
    lists = parser.add_mutually_exclusive_group()
    lists.add_argument("--reach", nargs="?", const="", metavar="HEADER")
    lists.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    if asked.small:
        print("\n".join(small_list(asked.root)))
        return 0
    if asked.reach is not None:
        print("\n".join(reach_list(graph(asked.root), asked.reach)))
        return 0
    found = findings(asked.root)
    print("\n".join(found) if found else "includes: every arrow points down, no folders in a cycle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
