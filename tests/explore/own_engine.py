"""The explorer's page over an engine that is compiled for this machine, where none is built for
browsers."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
import browser
import explorer

ANSWERS = Path(os.environ.get("STEPWRIGHT_ANSWERS", "build/release/tests/explore/explore_answers"))
RECEIPT = 2**30  # number of a message that is not waited for
FOLDER = tempfile.TemporaryDirectory()
EMPTY_MODULE = b"\0asm\x01\0\0\0"
# Takes the place of workers: questions go to the program.
WORKERS = """(() => {
  const page = Math.random();
  const workers = new Map();
  askProgram(JSON.stringify({page, begins: true}));
  window.Worker = class {
    constructor() { this.number = workers.size; workers.set(this.number, this); }
    postMessage(question) {
      if (question.module) return;
      askProgram(JSON.stringify({page, worker: this.number, question}));
    }
    terminate() {
      this.onmessage = () => {};
      askProgram(JSON.stringify({page, worker: this.number}));
    }
  };
  window.answerWorker = (asked, number, data) => {
    if (asked === page) workers.get(number).onmessage({data});
  };
})()"""


def write_page(source: Path, page: Path) -> None:
    """Writes the explorer with a module that holds nothing."""
    content = {"stepwright": "report/1", "command": "serve", "title": "Explorer"}
    content["engine"] = base64.b64encode(EMPTY_MODULE).decode()
    text = source.read_text(encoding="utf-8").replace("@CONTENT@", json.dumps(content))
    page.write_text(text, encoding="utf-8")


def page_and_browser() -> tuple[Path | None, type]:
    """The built explorer and a browser for it; where it is not built, the page over programs; None
    where there is neither."""
    if explorer.PAGE.exists():
        return explorer.PAGE, browser.Browser
    if not ANSWERS.exists():
        return None, Browser
    page = Path(FOLDER.name, "explorer.html")
    write_page(Path("stepwright/report/page.html"), page)
    return page, Browser


class Program:
    """A worker's program: answers one question after the other; `tell` hears what it says."""

    def __init__(self, tell):
        self.process = subprocess.Popen(
            [ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tell = tell
        self.listening = threading.Thread(target=self.listen, daemon=True)
        self.listening.start()

    def ask(self, question: dict) -> None:
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()

    def listen(self) -> None:
        for line in self.process.stdout:
            self.tell(line)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listening.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Browser(browser.Browser):
    """A tab whose workers ask programs."""

    def __enter__(self):
        self.programs = {}
        self.page = None  # number of the page in sight; what earlier ones still ask is dropped
        self.lock = threading.Lock()
        super().__enter__()
        self.call("Runtime.addBinding", name="askProgram")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WORKERS)
        return self

    def __exit__(self, *reason):
        for program in self.programs.values():
            program.end()
        super().__exit__(*reason)

    def write(self, message: dict) -> None:
        with self.lock:
            super().write(message)

    def note(self, event: dict) -> None:
        super().note(event)
        if event.get("method") == "Runtime.bindingCalled":
            asked = json.loads(event["params"]["payload"])
            if asked.get("begins"):
                self.begin(asked["page"])
            elif asked["page"] == self.page:
                self.ask(asked["worker"], asked.get("question"))

    def begin(self, page: float) -> None:
        """Ends the programs of the page before."""
        self.page = page
        for program in self.programs.values():
            program.end()
        self.programs = {}

    def ask(self, worker: int, question: dict | None) -> None:
        """Asks the program of a worker; without a question it ends."""
        if question is None:
            self.programs.pop(worker).end()
            return
        if worker not in self.programs:
            page = self.page
            self.programs[worker] = Program(lambda line: self.answer(page, worker, line))
        self.programs[worker].ask(question)

    def answer(self, page: float, worker: int, line: str) -> None:
        """Gives a page what a program says: another page may be in sight by then. Nobody waits for
        the browser's receipt."""
        text = f"answerWorker({page!r}, {worker}, {line})"
        message = {"id": RECEIPT, "method": "Runtime.evaluate"}
        self.write(message | {"params": {"expression": text}, "sessionId": self.session})
