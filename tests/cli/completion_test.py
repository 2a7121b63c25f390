"""Shells complete what the command has, and the manual page shows it. Runs in the root of the
repository; a shell that is not there is skipped."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()


def output(*words, **options):
    run = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if run.returncode != 0:
        raise AssertionError(f"{words}: {run.stderr}")
    return run.stdout


def script(shell):
    return output(COMMAND, "completion", shell)


def commands():
    return re.findall(r"^  (\w+) {2,}", output(COMMAND, "--help").split("Subcommands:")[1], re.M)


def options_of(command):
    text = output(COMMAND, *command.split(), "--help")
    return re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M)


class Bash(unittest.TestCase):
    def complete(self, *words):
        """What the function offers when the last word is to be completed."""
        line = " ".join(f"'{word}'" for word in ("stepwright", *words))
        code = f"{script('bash')}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _stepwright\n"
        return output("bash", "-c", code + 'printf "%s\\n" "${COMPREPLY[@]}"').split()

    def test_completes_commands(self):
        self.assertEqual(sorted(self.complete("")), sorted(commands()))
        self.assertEqual(self.complete("pre"), ["predict"])
        self.assertEqual(set(self.complete("lab", "")), {"run", "check", "profile", "clean"})

    def test_completes_all_options_of_every_command(self):
        for command in [*commands(), "lab run"]:
            with self.subTest(command):
                found = self.complete(*command.split(), "--")
                self.assertEqual(sorted(found), sorted(options_of(command)))

    def test_completes_values_that_are_one_of_a_few(self):
        self.assertIn("megatron", self.complete("export", "--to", "meg"))
        self.assertEqual(self.complete("list", "mod"), ["models"])

    def test_leaves_file_names_to_the_shell(self):
        for words in (("tune", "exam"), ("tune", "job.yaml", "--report", ""), ("tune", "-o", "")):
            self.assertEqual(self.complete(*words), [])


class OtherShells(unittest.TestCase):
    def fish(self, line):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed (tools/setup.sh test)")
        environment = os.environ | {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
        code = f"{script('fish')}\ncomplete -C '{line}'"
        found = output("fish", "--no-config", "-c", code, env=environment)
        return [row.split("\t")[0] for row in found.splitlines()]

    def test_fish_completes_the_same(self):
        self.assertEqual(self.fish("stepwright pre"), ["predict"])
        self.assertEqual(sorted(self.fish("stepwright tune --")), sorted(options_of("tune")))
        self.assertEqual(sorted(self.fish("stepwright lab run --")), sorted(options_of("lab run")))
        self.assertIn("megatron", self.fish("stepwright export --to meg"))

    def test_zsh_reads_its_script(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed (tools/setup.sh test)")
        code = f"{script('zsh')}\nprint $_comps[stepwright]"
        self.assertIn("_stepwright", output("zsh", "-f", "-c", code))


class Manual(unittest.TestCase):
    def test_has_every_command_and_option(self):
        text = script("man").replace("\\-", "-")
        for command in [*commands(), "lab run"]:
            self.assertRegex(text, rf"\n\.SS {command}\b")
            for option in options_of(command):
                self.assertIn(f"\\fB{option}\\fR", text)

    def test_is_a_page_that_man_can_show(self):
        if shutil.which("groff") is None:
            self.skipTest("groff is not installed (tools/setup.sh test)")
        run = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"],
            input=script("man"),
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(run.stderr, "")
        self.assertIn("Exit codes:", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips
