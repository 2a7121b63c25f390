"""Commands open and write all files in one way: what cannot be read or written is one sentence and
an exit code. Runs in the root of the repository; STEPWRIGHT_COMMAND names the command."""

import os
import resource
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import bounds
from bounds import COMMAND

ROOT = Path.cwd()
PLAN = ROOT / "examples/tiny-llama.plan.yaml"
LARGE_PLAN = ROOT / "examples/llama-3-70b.plan.yaml"
JOB = ROOT / "examples/inline-model.yaml"
LOG = ROOT / "tests/logs/data/ddp.trace.0.json.gz"
LOOP = "cannot be read: Too many levels of symbolic links"
INIT = ["--cluster", "dgx-h100", "--gpus", "8", "--batch", "8x4096"]
MEMORY_LIMIT = 3 << 30
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def limit_memory():
    bounds.limit_address_space(MEMORY_LIMIT)


def fill_disk():
    """From inside a full disk looks like files that may not grow."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_command(self, *words, **options):
        options = {"capture_output": True, "text": True, "check": False} | options
        return subprocess.run([COMMAND, *words], cwd=self.folder, timeout=60, **options)

    def shell(self, line, **options):
        environment = os.environ | {"SW": str(COMMAND), "PLAN": str(PLAN), "LOG": str(LOG)}
        return subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=environment,
            timeout=60,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )


class Reading(Case):
    def refused(self, *words):
        done = self.run_command(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr.splitlines()[-1]

    def test_a_loop_of_links_is_named_by_every_reader(self):
        for name in ("loop.yaml", "loop.jsonl", "loop.csv", "checkpoints", "config.json"):
            (self.folder / name).symlink_to(name)
        loop = self.folder / "loop.yaml"
        for words in (
            ["tune", "loop.yaml"],
            ["predict", PLAN, "--set", f"conditions={loop}"],
            ["predict", PLAN, "--set", f"measured={loop}"],
            ["predict", PLAN, "--set", f"cluster.profile={loop}"],
            ["explain", "loop.yaml"],
            ["lengths", "loop.jsonl", "--field", "n"],
            ["validate", "loop.csv"],
            ["fit", "loop.csv", "-o", "out.json"],
            ["characterize", "--log", "loop.yaml"],
            ["import", "loop.yaml"],
            ["checkpoint", "verify", "checkpoints"],
            ["capture", "--", "bash", "loop.yaml"],
            ["list", "models", "--config", "config.json"],
            ["init", "--model", "config.json", *INIT],
            ["serve", "--page", "loop.yaml"],
        ):
            with self.subTest(words=words):
                self.assertIn(LOOP, self.refused(*words))

    def test_a_table_without_an_end_is_refused_early(self):
        with open("/dev/zero") as zeros:
            done = self.run_command("validate", "/dev/stdin", stdin=zeros, preexec_fn=limit_memory)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/stdin: larger than 256 MiB", done.stderr)
        done = self.shell('"$SW" validate <(head -c 300000000 /dev/zero)')
        self.assertEqual(done.returncode, 2)
        self.assertIn(": larger than 256 MiB", done.stderr)

    def test_a_failure_in_the_middle_is_told(self):
        for words in (
            ["validate"],
            ["tune"],
            ["lengths", "--field", "n"],
            ["characterize", "--log"],
        ):
            with self.subTest(words=words):
                said = self.refused(*words, "/proc/self/mem")
                self.assertIn("/proc/self/mem: cannot be read to its end: Input/output error", said)

    def test_pipes_are_read_also_slow_ones(self):
        for line in (
            '"$SW" predict --json <(cat "$PLAN")',
            '"$SW" predict --json <(sleep 0.2; head -c 90 "$PLAN"; sleep 0.2; tail -c +91 "$PLAN")',
            'cat "$PLAN" | "$SW" predict --json /dev/stdin',
            'mkfifo late; (sleep 0.3; cat "$PLAN" > late) & "$SW" predict --json late',
            '"$SW" characterize --json --log <(cat "$LOG")',
            '"$SW" characterize --json --log <(zcat "$LOG")',
            '"$SW" lengths --json --field n <(echo \'{"n": 3}\')',
        ):
            with self.subTest(line=line):
                done = self.shell(line)
                self.assertEqual(done.returncode, 0, done.stderr)
        done = self.shell('"$SW" predict <(true)')
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_a_socket_is_refused(self):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(self.folder / "socket.yaml"))
        self.assertIn("socket.yaml: is a socket, not a file", self.refused("tune", "socket.yaml"))

    def test_a_pipe_without_a_writer_is_refused(self):
        os.mkfifo(self.folder / "pipe.yaml")
        said = self.refused("predict", "pipe.yaml")
        self.assertIn("pipe.yaml: is a pipe into which no program wrote", said)


class Writing(Case):
    def tune(self, output, **options):
        return self.run_command("tune", JOB, "--top", "1", "-o", output, **options)

    def test_a_full_disk_leaves_the_old_file_whole(self):
        (self.folder / "m.yaml").write_text("old")
        done = self.tune("m.yaml", preexec_fn=fill_disk)
        self.assertEqual(done.returncode, 1)
        self.assertIn("m.yaml: cannot be written: File too large", done.stderr)
        self.assertEqual((self.folder / "m.yaml").read_text(), "old")
        self.assertEqual(os.listdir(self.folder), ["m.yaml"])

    def test_a_link_to_nothing_is_written_through(self):
        (self.folder / "l.yaml").symlink_to("target.yaml")
        self.assertEqual(self.tune("l.yaml").returncode, 0)
        self.assertTrue((self.folder / "l.yaml").is_symlink())
        self.assertIn("stepwright: plan/", (self.folder / "target.yaml").read_text())

    def test_standard_output_has_a_name_and_a_dash_is_none(self):
        done = self.tune("-")
        self.assertEqual(done.returncode, 2)
        self.assertIn("-: is not taken as an output; /dev/stdout is standard output", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        with open(self.folder / "all", "w") as file:
            self.assertEqual(
                self.tune("/dev/stdout", stdout=file, capture_output=False).returncode, 0
            )
        text = (self.folder / "all").read_text()
        self.assertTrue(text.startswith("stepwright: plan/"), text[:100])
        self.assertIn("\n1 ", text)  # the table of plans, which the plan did not replace

    def test_a_name_may_be_as_long_as_the_disk_allows(self):
        self.assertEqual(self.tune("n" * 255).returncode, 0)
        self.assertEqual(os.listdir(self.folder), ["n" * 255])

    def test_a_name_is_one_line(self):
        for name in ("a\nb", "a\x1bb"):
            done = self.tune(name)
            self.assertEqual(done.returncode, 2)
            self.assertIn("an output must be one line", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_empty_name_is_none(self):
        for words in (["--report", ""], ["--trace="], ["--json", "--report="]):
            done = self.run_command("predict", PLAN, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr, "is empty|needs a value")
        self.assertEqual(self.tune("").returncode, 2)

    def test_new_content_runs_as_nobody_else(self):
        path = self.folder / "m.yaml"
        path.write_text("old")
        path.chmod(0o4751)
        self.assertEqual(self.tune("m.yaml").returncode, 0)
        self.assertEqual(path.stat().st_mode & 0o7777, 0o751)

    def test_a_signal_leaves_nothing(self):
        for sent in ENDING:
            words = ["predict", LARGE_PLAN, "--trace", "t.json"]
            with subprocess.Popen(
                [COMMAND, *words],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in ENDING],
            ) as running:
                while running.poll() is None and not os.listdir(self.folder):
                    time.sleep(0.001)
                self.assertRegex(",".join(os.listdir(self.folder)), r"^t\.json\.part-")
                running.send_signal(sent)
                self.assertEqual(running.wait(60), -sent)
            self.assertEqual(os.listdir(self.folder), [])


class Advice(Case):
    def test_a_command_that_a_message_names_can_be_typed(self):
        name = "a;touch pwn;$(id).json"
        (self.folder / name).write_bytes("{}".encode("utf-16"))
        for words in (["characterize", "--log", name], ["lengths", name, "--field", "a"]):
            done = self.run_command(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"UTF-8 {shlex.quote(name)}", done.stderr)


class StandardOutput(Case):
    WORDS = (
        ["--help"],
        ["--version"],
        ["tune", "--help"],
        ["completion", "bash"],
        ["list", "models"],
    )

    def test_that_is_full_is_told(self):
        for words in self.WORDS:
            with open("/dev/full", "w") as full:
                done = self.run_command(
                    *words, stdout=full, stderr=subprocess.PIPE, capture_output=False
                )
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(
                done.stderr,
                "stepwright: error: cannot write to standard output: No space left on device\n",
            )

    def test_that_is_closed_is_told(self):
        for words in self.WORDS:
            done = self.run_command(*words, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)

    def test_a_reader_that_has_seen_enough_needs_no_word(self):
        for words in self.WORDS:
            read, write = os.pipe()
            os.close(read)
            ignored = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # noqa: E731
            done = self.run_command(
                *words,
                stdout=write,
                stderr=subprocess.PIPE,
                capture_output=False,
                restore_signals=False,
                preexec_fn=ignored,
            )
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (1, ""), words)


if __name__ == "__main__":
    unittest.main()
