"""Runs clang-tidy on every source of the dev build, one per core, and skips what was clean before.

`tools/check/tidy.py FILE...` looks at these sources alone.
A source is skipped when it, the headers of the repository that it reaches, its compile command, the
configuration and the pinned version are what they were when it last passed.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from include_graph import includes

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"
CACHE = ROOT / "build/tidy-cache"
CLANG_TIDY = ROOT / ".venv/bin/clang-tidy"
CONFIGURATION = [ROOT / ".clang-tidy", ROOT / "tools/requirements/check.txt"]


@cache
def digest(path: Path) -> bytes:
    """Hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def direct_headers(source: Path) -> list[Path]:
    """The headers of the repository that a file includes."""
    return [ROOT / path for _, path, _ in includes(source) if (ROOT / path).is_file()]


def reached(source: Path) -> set[Path]:
    """A source and every header of the repository that it reaches."""
    seen: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(direct_headers(path))
    return seen


def key(source: Path, command: str) -> str:
    """What a verdict on the source depends on, as one hash."""
    total = hashlib.sha256(command.encode())
    for path in [*CONFIGURATION, *sorted(reached(source))]:
        total.update(str(path).encode() + digest(path))
    return total.hexdigest()


def check(source: Path, mark: Path) -> bool:
    """Runs clang-tidy on one source; prints what it finds, and leaves a mark when it is clean."""
    command = [CLANG_TIDY, "-p", BUILD, "--quiet", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        mark.touch()
        return True
    print((done.stdout or done.stderr).strip().replace(f"{ROOT}/", ""), flush=True)
    return False


def main() -> int:
    """Checks whatever has no mark yet; 1 when anything was found."""
    CACHE.mkdir(parents=True, exist_ok=True)
    todo = {}
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    chosen = {Path(name).resolve() for name in sys.argv[1:]}
    written = [
        entry
        for entry in entries
        if BUILD not in Path(entry["file"]).parents
        and (not chosen or Path(entry["file"]) in chosen)
    ]
    for entry in written:
        source = Path(entry["file"])
        mark = CACHE / key(source, entry["command"])
        if not mark.exists():
            todo[source] = mark
    print(f"clang-tidy: {len(written)} sources, {len(todo)} to check", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(check, todo.keys(), todo.values()))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
