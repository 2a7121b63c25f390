#!/usr/bin/env bash
# What takes too long for every change: names and usual mistakes in every source (clang-tidy), each
# source and header by itself (the dev build), names with two definitions (a link of everything as
# one program), the suite of the planner under the address, undefined behaviour
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

# Each header by itself, without what stands precompiled in other builds.
headers() {
  cmake --preset dev
  python3 -B tools/check/headers_alone.py
}

# The two commands linked as one program each: a name with two definitions is an error.
lto() {
  cmake --preset lto
  cmake --build --preset lto
}

suite() {
  cmake --preset "$1"
  cmake --build --preset "$1"
  ctest --preset "$1" -j "$(nproc)"
}

[ $# -gt 0 ] || set -- tidy files headers lto asan tsan fuzz
for part in "$@"; do
  echo "check-all: $part"
  case $part in
    tidy | files | headers | lto) $part ;;
    asan | tsan) suite "$part" ;;
    fuzz) tools/check/fuzz.sh 5 -seed=1 ;;
    *) echo "usage: tools/check/check_all.sh [tidy|files|headers|lto|asan|tsan|fuzz]..." >&2; exit 2 ;;
  esac
done
