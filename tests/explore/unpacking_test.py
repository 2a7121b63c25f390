"""The page unpacks what LZMA packs. Skipped where there is no Node. Runs in the root of the
repository."""

import base64
import hashlib
import itertools
import random
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, "web/engine")
import page


def packed(data: bytes, lc: int, lp: int, pb: int) -> str:
    """As the build packs the engine, with other numbers of context and position bits."""
    kept = dict(page.FILTER)
    page.FILTER.update(lc=lc, lp=lp, pb=pb)
    try:
        return base64.b64encode(page.packed(data)).decode()
    finally:
        page.FILTER.update(kept)


def unpacked(lines: list) -> list:
    """What the page makes of packed lines."""
    command = ["node", "tests/explore/unpack.mjs"]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


class Unpacking(unittest.TestCase):
    def test_every_kind_of_data_comes_back(self):
        drawn = random.Random(1)
        text = Path("docs/formats.md").read_bytes()
        near = bytes(drawn.choice(b"abc") for _ in range(20_000))
        far = drawn.randbytes(70_000)
        kinds = [b"", b"a", bytes(100_000), text, near, far + text + far, text[:5000] * 40]
        kinds += [drawn.randbytes(drawn.randrange(300)) * drawn.randrange(1, 9) for _ in range(40)]
        bits = [(3, 0, 0), (3, 0, 2), (0, 0, 0), (0, 4, 4), (4, 0, 4), (2, 2, 1), (1, 3, 3)]
        every = list(itertools.product(kinds, bits))
        told = unpacked([packed(data, *each) for data, each in every])
        for (data, each), answer in zip(every, told, strict=True):
            self.assertEqual(answer, hashlib.sha256(data).hexdigest(), (len(data), each))

    def test_damaged_data_ends(self):
        whole = bytearray(base64.b64decode(packed(Path("docs/formats.md").read_bytes(), 3, 0, 0)))
        drawn = random.Random(2)
        lines = []
        for _ in range(60):
            damaged = bytearray(whole)
            damaged[drawn.randrange(20, len(whole))] ^= 1 + drawn.randrange(255)
            lines.append(base64.b64encode(damaged[: drawn.randrange(20, len(whole))]).decode())
        self.assertEqual(len(unpacked(lines)), len(lines))


if __name__ == "__main__":
    if shutil.which("node") is None:
        print("skipped: no Node is installed (sudo apt-get install nodejs)")
        sys.exit(77)
    unittest.main()
