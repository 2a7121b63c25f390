"""Whatever files and options hold, a command ends by itself within seconds and 2 GiB, with exit
code 0 to 3; it shows nothing that a terminal obeys, answers with numbers, says in one sentence what
is wrong, and leaves no file that it was not asked for.

STEPWRIGHT_ATTACKS=N hostile inputs from number STEPWRIGHT_FIRST of seed STEPWRIGHT_SEED are tried;
STEPWRIGHT_MESSAGES=FILE gets what each said. Runs in the root of the repository; STEPWRIGHT_COMMAND
names the command."""

import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import bounds
from attack_inputs import Attack
from names_test import OBEYED
from numbers_test import COMMAND, ROOT

INPUTS = int(os.environ.get("STEPWRIGHT_ATTACKS", "60"))
FIRST = int(os.environ.get("STEPWRIGHT_FIRST", "0"))
SEED = os.environ.get("STEPWRIGHT_SEED", "1")
CPU_SECONDS, WAITED_SECONDS, BYTES = 10, 300, 2 << 30
MOST_PRINTED, MOST_SAID = 16 << 20, 20_000
# Words of a library or of the language, which say nothing to who reads them.
UNCLEAR = re.compile(
    r"std::|basic_|exception|nlohmann|\[json|yaml-cpp|simdjson|toml::|filesystem error|sto[id]\b|"
    r"Assertion|terminate called|unknown error|bad_alloc|out of memory"
)
NO_NUMBER = re.compile(rb"(?<![\w/.-])-?(nan|inf)(?![\w/.-])")


def limits():
    for what, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 1 << 28),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    bounds.limit_address_space(BYTES)
    if os.geteuid() == 0:  # Root may read what is denied.
        os.setgid(65534)
        os.setuid(65534)


def no_number(text):
    raise ValueError(f"{text} is no number")


def faults(words, code, out, said):
    """What a command did that none should; `code`: the exit code, "late" if it did not end."""
    text = out.decode(errors="surrogateescape") + said.decode(errors="surrogateescape")
    if code not in (0, 1, 2, 3):
        yield f"ended by {signal.Signals(-code).name if code != 'late' else 'nobody'}"
    if OBEYED.search(text) or re.search("[\udc80-\udcff]", text):
        yield "a terminal obeys what it shows"
    if len(out) > MOST_PRINTED or len(said) > MOST_SAID:
        yield f"prints {len(out)} and {len(said)} bytes"
    if UNCLEAR.search(said.decode(errors="replace")):
        yield "says words of a library"
    judges = code == 1 and words[0] in ("check", "capture")  # The answer itself.
    if code in (1, 2, 3) and said.count(b"stepwright: error: ") != 1 and not judges:
        yield "says no error, or several"
    if code == 0 and "--json" in words:
        try:
            json.loads(out, parse_constant=no_number)
        except ValueError as error:
            yield f"prints no JSON: {error}"
    elif code == 0 and NO_NUMBER.search(out):
        yield "prints what is no number"


class HostileInputs(unittest.TestCase):
    def test_are_answered_or_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            attack = Attack(SEED, Path(folder), patient=INPUTS >= 1000)
        with open(
            os.environ.get("STEPWRIGHT_MESSAGES", os.devnull), "w", encoding="utf-8"
        ) as notes:
            for number in range(FIRST, FIRST + INPUTS):
                with self.subTest(number=number), tempfile.TemporaryDirectory() as folder:
                    notes.write(json.dumps([number, *self.judge(attack, number, Path(folder))]))
                    notes.write("\n")

    def judge(self, attack, number, folder):
        inner, temporary = folder / "in", folder / "tmp"
        for made in (inner, temporary):
            made.mkdir()
            made.chmod(0o777)
        folder.chmod(0o755)
        for name in ("examples", "data"):
            (inner / name).symlink_to(ROOT / name)
        words, writes = attack.input(number, inner)
        before = set(os.listdir(inner))
        code, out, said = self.run_command(words, inner, temporary)
        found = list(faults(words, code, out, said))
        left = (set(os.listdir(inner)) - before - ({"out"} if writes else set())) | set(
            os.listdir(temporary)
        )
        if left and not (writes and "out" not in words):
            found.append(f"leaves {left}")
        shown = [word[:200] for word in words]
        self.assertEqual(found, [], f"{shown}: {code}: {said[-600:]}")
        return code, shown, said[-2000:].decode(errors="replace")

    def run_command(self, words, inner, temporary):
        paths = {"PATH": os.environ["PATH"], "HOME": str(temporary), "TMPDIR": str(temporary)}
        try:
            done = subprocess.run(
                [COMMAND, *words],
                cwd=inner,
                env=paths,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=WAITED_SECONDS,
                preexec_fn=limits,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return "late", late.stdout or b"", late.stderr or b""
        return done.returncode, done.stdout, done.stderr


if __name__ == "__main__":
    unittest.main()
