"""The built explorer, and the engine inside it."""

import base64
import json
import lzma
import os
import re
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PAGE = COMMAND.parent / "explorer.html"


def engine() -> bytes:
    """The module of WebAssembly that the page unpacks."""
    text = PAGE.read_text(encoding="utf-8")
    content = re.search(r'<script id="content" type="application/json">(.*?)</script>', text)
    packed = bytearray(base64.b64decode(json.loads(content[1])["engine"]))
    packed[5:13] = b"\xff" * 8  # the size: its end is marked, too, and xz takes but one of both
    return lzma.decompress(packed, format=lzma.FORMAT_ALONE)
