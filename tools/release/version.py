"""Prints the version of the project, which CMakeLists.txt says, and fails where another file says
another one: `tools/release/version.py [TAG]`, with the tag that is released."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Files that cannot take the version from CMakeLists.txt when they are read.
REPEATED = {
    "CITATION.cff": r"^version: (\S+)$",
    "python/stepwright_torch/pyproject.toml": r'^version = "(\S+)"$',
    ".pre-commit-hooks.yaml": r"rev: v(\S+)$",
    "action.yml": r"uses: OWNER/stepwright@v(\S+)$",
}


def version(root: Path) -> str:
    """The version that CMakeLists.txt says."""
    text = (root / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(stepwright VERSION ([0-9.]+)", text)[1]


def findings(root: Path, tag: str = "") -> list[str]:
    """A line for each file, and for the tag, that says another version."""
    said = version(root)
    found = [f"the tag is {tag}, and the version {said}"] if tag not in ("", f"v{said}") else []
    for name, pattern in REPEATED.items():
        other = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.M)
        if other is None or other[1] != said:
            found.append(f"{name}: says {other and other[1]}, CMakeLists.txt {said}")
    return found


def main(words: list[str]) -> int:
    found = findings(ROOT, *words[:1])
    print("\n".join(found) if found else version(ROOT))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
