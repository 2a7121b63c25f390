"""`stepwright serve` gives a page to this machine and ends when it is asked to. Runs in the root of
the repository; STEPWRIGHT_COMMAND names the command."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PAGE = "<!DOCTYPE html>\n<title>Not the explorer, but a page</title>\n"


@contextlib.contextmanager
def serving(*arguments, program=COMMAND, end=signal.SIGINT):
    """The address of a command that serves until it is ended, cleanly."""
    with subprocess.Popen(
        [program, "serve", "--port", "0", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.send_signal(end)
            process.wait(timeout=10)
    assert process.returncode == 0, process.returncode


class Serve(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.page = self.folder / "page.html"
        self.page.write_text(PAGE, encoding="utf-8")

    def refused(self, *arguments, program=COMMAND) -> tuple[int, str]:
        done = subprocess.run(
            [program, "serve", *arguments], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_gives_the_page_until_it_is_interrupted(self):
        for end in (signal.SIGINT, signal.SIGTERM):
            with serving("--page", self.page, end=end) as address:
                with urllib.request.urlopen(address) as answer:
                    self.assertEqual(answer.read().decode(), PAGE)
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    urllib.request.urlopen(address + "other")
                raised.exception.close()
                self.assertEqual(raised.exception.code, 404)

    def test_a_reader_that_takes_nothing_delays_neither_others_nor_the_end(self):
        self.page.write_text(PAGE * 100_000, encoding="utf-8")
        with socket.socket() as slow, serving("--page", self.page, end=signal.SIGTERM) as address:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", int(address.rsplit(":")[-1].strip("/"))))
            slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            slow.recv(100)
            # A server that waited for the slow one would do so for 15 s.
            with urllib.request.urlopen(address, timeout=10) as answer:
                self.assertEqual(len(answer.read()), len(PAGE) * 100_000)

    def test_other_hosts_are_refused(self):
        with serving("--page", self.page) as address:
            request = urllib.request.Request(address, headers={"Host": "attacker.example"})
            with self.assertRaises(urllib.error.HTTPError) as raised:
                urllib.request.urlopen(request)
            raised.exception.close()
            self.assertEqual(raised.exception.code, 421)

    def test_the_explorer_is_found_beside_the_command_or_where_packages_put_it(self):
        program = self.folder / "bin" / "stepwright"
        program.parent.mkdir()
        shutil.copy(COMMAND, program)
        code, said = self.refused(program=program)
        self.assertEqual(code, 3)
        self.assertIn("make engine", said)
        shared = self.folder / "share" / "stepwright"
        shared.mkdir(parents=True)
        for folder, text in ((shared, "shared"), (program.parent, "beside")):
            (folder / "explorer.html").write_text(text, encoding="utf-8")
            with serving(program=program) as address, urllib.request.urlopen(address) as answer:
                self.assertEqual(answer.read().decode(), text)

    def test_a_bad_port_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            code, said = self.refused("--page", self.page, "--port", port)
        self.assertEqual(code, 2)
        self.assertIn(f"port {port} cannot be used", said)
        for port in ("-1", "65536", "http"):
            code, said = self.refused("--page", self.page, "--port", port)
            self.assertEqual(code, 2)
            self.assertIn("--port", said)

    def test_a_page_that_is_not_there_is_told(self):
        code, said = self.refused("--page", self.folder / "none.html")
        self.assertEqual(code, 2)
        self.assertIn("none.html", said)


if __name__ == "__main__":
    unittest.main()
