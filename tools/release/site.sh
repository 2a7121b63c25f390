#!/usr/bin/env bash
# Builds the site: docs/ with mkdocs-material, from PyPI, in an environment of its own; the explorer, where it was built; reports
# of examples. Any host of static files can give it to browsers. A link that leads nowhere fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=build/site/tools
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet -r tools/requirements/site.txt
NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --strict --quiet --site-dir build/site/html
python3 -B tools/release/site_pages.py build/release/explorer.html build/release/stepwright build/site/html
echo "site: build/site/html/index.html"
