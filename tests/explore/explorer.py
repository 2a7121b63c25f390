"""The built explorer, and the engine inside it."""

import base64
import gzip
import json
import os
import re
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PAGE = COMMAND.parent / "explorer.html"


def engine() -> bytes:
    """The module of WebAssembly that the page unpacks."""
    text = PAGE.read_text(encoding="utf-8")
    content = re.search(r'<script id="content" type="application/json">(.*?)</script>', text)
    return gzip.decompress(base64.b64decode(json.loads(content[1])["engine"]))
