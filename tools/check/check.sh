#!/usr/bin/env bash
# Format, include arrows, names, Python, the page of web/. Fails on any finding.
# `tools/check/check.sh fix` rewrites the sources to the format instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=.venv/bin

mapfile -t sources < <(find stepwright tests bench python -name '*.h' -o -name '*.cpp' -o -name '*.cu' 2>/dev/null)

if [ "${1:-}" = fix ]; then
  [ ${#sources[@]} -eq 0 ] || $bin/clang-format -i "${sources[@]}"
  $bin/ruff check --fix --quiet . || true
  $bin/ruff format .
  [ ! -x web/node_modules/.bin/prettier ] || npm --silent --prefix web run format
  exit
fi

status=0
python3 -B tools/check/check_includes.py || status=1
python3 -B tools/check/check_names.py || status=1
python3 -B tools/check/check_python.py || status=1
python3 -B tools/check/check_words.py || status=1
[ ${#sources[@]} -eq 0 ] || $bin/clang-format --dry-run --Werror "${sources[@]}" || status=1
$bin/ruff check --quiet . || status=1
$bin/ruff format --check --quiet . || status=1
$bin/oxlint --config web/.oxlintrc.json --deny-warnings --format unix web || status=1
# Types and format of the page, where TypeScript and Prettier are installed (tools/setup.sh check, make web).
[ ! -x web/node_modules/.bin/tsc ] || npm --silent --prefix web run types || status=1
[ ! -x web/node_modules/.bin/prettier ] || npm --silent --prefix web run check-format || status=1
[ $status -eq 0 ] && echo "check: nothing found" || echo "check: see above; 'make format' mends the format"
exit $status
