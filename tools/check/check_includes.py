"""Prints file:line of each include under stepwright/ that does not point down."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Room -> rooms directly below it; what those may use, it may use too.
BELOW = {
    "core": "",
    "launch_scripts": "core",
    "checkpoint": "core",
    "model": "core",
    "cluster": "core",
    "collective": "cluster",
    "schedule": "core",
    "packing": "core",
    "plan": "model collective schedule packing",
    "huggingface": "plan checkpoint",
    "framework_files": "huggingface",
    "step": "plan",
    "transport": "collective",
    "process_group": "transport",
    "cost": "step",
    "fit": "cost logs",
    "traffic": "step",
    "logs": "traffic",
    "memory": "step",
    "simulate": "cost memory",
    "interleave": "simulate",
    "tune": "simulate",
    "whole_run": "tune",
    "phases": "tune",
    "study": "tune",
    "validate": "tune fit framework_files",
    "learn": "validate",
    "report": "simulate traffic",
    "explore": "report whole_run",
    "check": "framework_files tune",
    "collective_files": "cost",
    "runtime": "memory huggingface process_group",
    "sample": "runtime cost",
    "lab": "cluster",
    "serve": "core",
    "cli": "checkpoint fit study interleave check learn report collective_files logs "
    "traffic runtime sample lab serve whole_run phases",
}
TORCH_ROOMS = ("process_group", "runtime", "sample")
TORCH = re.compile(r"(torch|ATen|c10|caffe2|gloo)/")
HEAVY = re.compile(r"((yaml-cpp|nlohmann|CLI)/(?!json_fwd\.hpp)|pugixml|simdjson)")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def includes(source: Path) -> Iterator[tuple[int, str, bool]]:
    """Line, path and whether it is quoted, of each include of a source."""
    for line, text in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
        if match := INCLUDE.match(text):
            yield line, match[2], match[1] == '"'


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


def findings(root: Path) -> list[str]:
    """One line for each include that breaks a rule, and for each file that is in no known room."""
    found = []
    for source in sorted((root / "stepwright").rglob("*")):
        if source.suffix not in (".h", ".cpp", ".cu"):
            continue
        name = source.relative_to(root)
        room = name.parts[1]
        if room not in BELOW:
            found.append(f"{name}:1: {room} is not a room")
            continue
        for line, path, quoted in includes(source):
            if what := problem(room, source.suffix == ".h", path, quoted):
                found.append(f"{name}:{line}: {what}")
    return found


def main() -> int:
    """Checks the repository given as the argument, or else the one that holds this file."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = findings(root)
    print("\n".join(found) if found else "includes: every arrow points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
