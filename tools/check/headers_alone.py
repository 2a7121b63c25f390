"""Compiles each header by itself, without precompiled headers, and prints what fails.

Takes the flags of its room from build/dev/compile_commands.json (`cmake --preset dev`).
`headers_alone.py PATH...` compiles the headers under these paths only.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREES = ("stepwright", "tests")


def flags_by_folder() -> dict[Path, list[str]]:
    """Folder of sources -> compiler and flags of the first source in it."""
    commands = json.loads((ROOT / "build/dev/compile_commands.json").read_text(encoding="utf-8"))
    found: dict[Path, list[str]] = {}
    for entry in commands:
        words = shlex.split(entry["command"])
        words = words[next(i for i, word in enumerate(words) if "++" in Path(word).name) :]
        end = words.index("-o")
        found.setdefault(Path(entry["file"]).parent, words[:end])
    return found


def flags_for(header: Path, known: dict[Path, list[str]]) -> list[str]:
    """The flags of the nearest folder above a header that has sources; empty if none has."""
    return next((known[folder] for folder in header.parents if folder in known), [])


def compiled(header: Path, flags: list[str]) -> str:
    """The first error of a header that does not compile alone; empty if it does."""
    command = [*flags, "-w", "-fsyntax-only", "-include", str(header), "-x", "c++", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return "" if done.returncode == 0 else (errors or [done.stderr.strip()])[0]


def headers(paths: list[str]) -> list[Path]:
    """All headers under the paths, or else those of the rooms and of their tests."""
    roots = [Path(path).resolve() for path in paths] or [ROOT / tree for tree in TREES]
    return sorted(
        path for root in roots for path in ([root] if root.is_file() else root.rglob("*.h"))
    )


def main() -> int:
    known = flags_by_folder()
    found = [header for header in headers(sys.argv[1:]) if flags_for(header, known)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda header: compiled(header, flags_for(header, known)), found))
    named = zip(found, results, strict=True)
    failed = [f"{path.relative_to(ROOT)}: {what}" for path, what in named if what]
    print("\n".join(failed) if failed else f"headers: each of {len(found)} compiles alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
