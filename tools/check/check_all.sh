#!/usr/bin/env bash
# What takes too long for every change: names and usual mistakes in every source (clang-tidy), each
# source by itself (the dev build), the suite of the planner under the address, undefined behaviour
# and thread sanitizers, the readers against noise. Stops at the first part that fails;
# `tools/check/check_all.sh PART...` runs parts of it.
set -euo pipefail
cd "$(dirname "$0")/../.."

tidy() {
  cmake --preset dev
  python3 -B tools/check/tidy.py
}

files() {
  cmake --preset dev
  cmake --build --preset dev
}

suite() {
  cmake --preset "$1"
  cmake --build --preset "$1"
  ctest --preset "$1" -j "$(nproc)"
}

[ $# -gt 0 ] || set -- tidy files asan tsan fuzz
for part in "$@"; do
  echo "check-all: $part"
  case $part in
    tidy | files) $part ;;
    asan | tsan) suite "$part" ;;
    fuzz) tools/check/fuzz.sh 5 -seed=1 ;;
    *) echo "usage: tools/check/check_all.sh [tidy|files|asan|tsan|fuzz]..." >&2; exit 2 ;;
  esac
done
