"""The explorer of the site: its engine lies beside the page, which may fetch it and no more."""

import base64
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/release"))

import site_pages

ROOT = Path(__file__).parents[2]
ENGINE = b"\0asm\x01\0\0\0"


class SitePages(unittest.TestCase):
    def test_the_engine_is_a_file_that_the_page_may_fetch(self):
        empty = (ROOT / "stepwright/report/page.html").read_text(encoding="utf-8")
        content = {"command": "serve", "title": "</script>", "engine": ""}
        content["engine"] = base64.b64encode(ENGINE).decode()
        page = empty.replace("@CONTENT@", json.dumps(content).replace("<", "\\u003c"))
        with tempfile.TemporaryDirectory() as folder:
            site_pages.write_explorer(page, Path(folder, "explorer"))
            written = Path(folder, "explorer", "index.html").read_text(encoding="utf-8")
            self.assertEqual(Path(folder, "explorer", site_pages.ENGINE).read_bytes(), ENGINE)
        told = json.loads(site_pages.CONTENT.search(written)[2])
        self.assertEqual(told["engine_file"], site_pages.ENGINE)
        self.assertEqual(told["title"], "</script>")
        self.assertNotIn("engine", told)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', written)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertTrue(policy.endswith("connect-src 'self'"))


if __name__ == "__main__":
    unittest.main()
