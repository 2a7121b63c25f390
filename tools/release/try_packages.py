"""Tries packages of the planner: each answers what the first answers, byte for byte, and gives the
explorer's page.

`tools/release/try_packages.py COMMAND...`: what starts a package, in words of a shell.
"""

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "build/release/explorer.html"
TUNED = ("llama-3-70b.yaml", "mixtral-8x7b.yaml", "long-context.yaml")
LIMIT_S = 600  # of one answer, under an emulator, too


def questions() -> list[list[str]]:
    """Command lines whose answers depend on nothing but the planner."""
    plans = sorted(EXAMPLES.glob("*.plan.yaml"))
    asked = [[command, plan] for plan in plans for command in ("predict", "memory", "traffic")]
    asked += [["tune", EXAMPLES / job] for job in TUNED]
    return [["--version"], *([*map(str, words), "--json"] for words in asked)]


def answer(command: list[str], words: list[str]) -> str:
    """What a command prints, without the wall clock of a search."""
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, check=True, timeout=LIMIT_S
    )
    if words[0] != "tune":
        return done.stdout
    return json.dumps(json.loads(done.stdout) | {"seconds": 0}, indent=1)


def difference(ours: str, theirs: str) -> str:
    """The first line in which two answers differ."""
    lines = zip(ours.splitlines(), theirs.splitlines(), strict=False)
    return next(
        (f"{a.strip()} instead of {b.strip()}" for a, b in lines if a != b), "another length"
    )


def served(command: list[str]) -> bytes:
    """The page that a command gives to browsers of this machine."""
    words = [*command, "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            with urllib.request.urlopen(address[0], timeout=LIMIT_S) as page:
                return page.read()
        finally:
            process.send_signal(signal.SIGINT)


def main(commands: list[list[str]]) -> int:
    asked = questions()
    wrong = 0
    told: list[str] = []
    for command in commands:
        answers = [answer(command, words) for words in asked]
        told = told or answers
        for words, ours, theirs in zip(asked, answers, told, strict=True):
            if ours != theirs:
                wrong += 1
                print(f"{shlex.join([*command, *words])}: {difference(ours, theirs)}")
        if served(command) != PAGE.read_bytes():
            wrong += 1
            print(f"{shlex.join(command)} serve: another page than {PAGE.relative_to(ROOT)}")
        print(f"{answers[0].strip()}, {len(asked)} answers and the explorer: {shlex.join(command)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main([shlex.split(words) for words in sys.argv[1:]]))
