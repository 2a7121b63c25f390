"""A headless Chromium, driven over a pipe in its own protocol: no package beside the browser."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def found() -> str | None:
    """The browser's command, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab. `with Browser() as browser: browser.open(path, width=400, dark=True)`."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.inp, theirs_out = os.pipe()

        def join():  # the browser reads from descriptor 3 and writes to 4
            ends = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options += ["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"]
        self.process = subprocess.Popen(
            [found(), *options, "about:blank"],
            preexec_fn=join,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest = b""
        self.number = 0
        self.session = None
        self.messages = []
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.inp)
        os.close(self.out)
        self.profile.cleanup()

    def receive(self) -> dict:
        while b"\0" not in self.rest:
            more = os.read(self.inp, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event: dict) -> None:
        """Keeps what a page said on its console, what it threw and what it asked the network for.
        That tests read its canvases is not the page's fault."""
        kind, what = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        if kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.messages.append(" ".join(str(arg.get("value")) for arg in what["args"]))
        if kind == "Log.entryAdded" and "willReadFrequently" not in what["entry"]["text"]:
            self.messages.append(what["entry"]["text"])
        if kind == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def write(self, message: dict) -> None:
        """Sends a message in whole; a pipe takes a large one in parts."""
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self.out, rest) :]

    def call(self, method: str, **parameters) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        number = self.number
        self.write(message)
        while (answer := self.receive()).get("id") != number:
            self.note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, page: Path | str, width: int = 1280, dark: bool = False) -> None:
        """Loads a file or address and waits until its pictures are drawn or its script failed."""
        self.messages, self.requests = [], []
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Page.resetNavigationHistory")  # a full one drops entries
        self.call("Page.navigate", url="about:blank")  # what differs in its fragment is loaded, too
        self.call("Page.navigate", url=page if "://" in str(page) else page.absolute().as_uri())
        while not self.evaluate("document.readyState === 'complete'"):
            pass
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")

    def evaluate(self, expression: str):
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def press_tab(self) -> None:
        """Moves the focus on."""
        key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **key)

    def picture(self, path: Path, clip: dict | None = None) -> None:
        """Writes the whole page as a PNG, or its part `clip` {x, y, width, height}."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        whole = {"x": 0, "y": 0, "width": size["width"], "height": size["height"]}
        shot = self.call(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={**(clip or whole), "scale": 1},
        )
        Path(path).write_bytes(base64.b64decode(shot["data"]))
