#!/usr/bin/env bash
# Runs each fuzz target for the given seconds: tools/check/fuzz.sh SECONDS [libFuzzer option...]
set -euo pipefail
cd "$(dirname "$0")/../.."
shopt -s nullglob
seconds=$1
shift

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
for target in build/fuzz/fuzz/*_fuzz; do
  name=$(basename "$target")
  mkdir -p "build/fuzz/corpus/$name"
  # libFuzzer passes over links, which some seeds are.
  cp -Lf tests/*/corpus/"$name"/* "build/fuzz/corpus/$name/"
  echo "fuzz: $name, $seconds s"
  # Some limits are of lengths: texts grow beyond 1 MiB, with the words of the format.
  words=()
  for dictionary in tests/*/corpus/"$name".dict; do words=("-dict=$dictionary"); done
  "$target" -max_total_time="$seconds" -max_len=2000000 -timeout=10 -artifact_prefix="build/fuzz/$name-" \
    "${words[@]}" "$@" \
    "build/fuzz/corpus/$name" >"build/fuzz/$name.log" 2>&1 ||
    { tail -n 60 "build/fuzz/$name.log"; exit 1; }
done
