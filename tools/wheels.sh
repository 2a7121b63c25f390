#!/usr/bin/env bash
# Builds the wheel of the planner, with the libraries that it needs inside, and tries it in a fresh
# environment. Its tag says which glibc it needs at least: that of this machine's compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/wheels
tools=$folder/tools
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet -r tools/requirements-wheels.txt
rm -rf "$folder/raw" "$folder"/*.whl
echo "wheels: building the planner, some minutes on two cores"
"$tools/bin/pip" wheel --no-deps --wheel-dir "$folder/raw" .
PATH="$PWD/$tools/bin:$PATH" "$tools/bin/auditwheel" repair --strip --wheel-dir "$folder" "$folder"/raw/*.whl

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh/venv"
"$fresh/venv/bin/pip" install --quiet --no-deps "$folder"/*.whl
examples=$PWD/examples
(cd "$fresh" && venv/bin/stepwright --version && venv/bin/stepwright memory "$examples/llama-3-70b.plan.yaml" >/dev/null &&
  venv/bin/python -c "import stepwright; print(stepwright.predict('$examples/llama-3-70b.plan.yaml').step_time_s, 's')")
ls -l "$folder"/*.whl
