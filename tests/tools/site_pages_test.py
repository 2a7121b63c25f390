"""Pages that are made when the site is built: the explorer, which may fetch the engine beside it
and no more, and the constants, each with its source."""

import base64
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/release"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools/docs"))

import constant_page
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


class Constants(unittest.TestCase):
    def test_each_has_a_name_a_value_and_a_source(self):
        text = constant_page.SOURCE.read_text(encoding="utf-8")
        rows = constant_page.rows()
        self.assertEqual(len(rows), text.count("inline constexpr DocumentedConstant k"))
        self.assertGreater(len(rows), 40)
        self.assertEqual([row for row in rows if not all(row)], [])
        self.assertIn(("products in fp32 and fp64, share of peak", "0.7", "assumed"), rows)

    def test_each_generation_has_its_figures_with_their_sources(self):
        page = constant_page.page()
        paths = sorted(constant_page.GENERATIONS.glob("*.yaml"))
        self.assertGreater(len(paths), 5)
        for path in paths:
            figures = constant_page.figures(path)
            self.assertIn("matrix_share", [key for key, _, _ in figures], path)
            self.assertIn(constant_page.table(figures), page, path)
        board = next(row for row in figures if row[0] == "matrix_share")
        self.assertTrue(board[2], "a source")


if __name__ == "__main__":
    unittest.main()
