"""Puts the engine into the page, as the command puts its answers there: page.py PAGE ENGINE OUT"""

import base64
import json
import lzma
import sys
from pathlib import Path

# What packs WebAssembly best of all that web/src/engine/lzma.js unpacks.
FILTER = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 3, "lp": 0, "pb": 0}


def packed(data: bytes) -> bytes:
    """LZMA with its header, in which the size of the data stands."""
    stream = lzma.compress(data, format=lzma.FORMAT_ALONE, filters=[FILTER])
    return stream[:5] + len(data).to_bytes(8, "little") + stream[13:]


def main() -> None:
    page, engine, out = (Path(path) for path in sys.argv[1:])
    content = {"stepwright": "report/1", "command": "serve", "title": "Explorer"}
    content["engine"] = base64.b64encode(packed(engine.read_bytes())).decode()
    text = page.read_text(encoding="utf-8").replace("@CONTENT@", json.dumps(content))
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
