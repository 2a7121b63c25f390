#!/usr/bin/env bash
# What takes too long for every change. Parts, in the order in which they run:
#   tidy      names and usual mistakes in every source (clang-tidy)
#   files     each source by itself, without precompiled headers (the dev build)
#   headers   each header by itself
#   lto       names with two definitions: a link of each command as one program
#   debug     a build without optimisation
#   noinline  the planner's suite without inlining
#   asan      the planner's suite under the address and undefined behaviour sanitizers
#   tsan      the planner's suite under the thread sanitizer
#   memory    commands in which one of 2,000 allocations fails
#   load      the whole suite ten times while other processes keep the cores busy
#   judges    200 exported plans of each framework before its own package
#   fuzz      the readers against noise
# Stops at the first part that fails; `tools/check/check_all.sh PART...` runs parts of it.
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

debug() {
  cmake --preset debug
  cmake --build --preset debug
}

memory() {
  cmake --preset release
  cmake --build --preset release --target cli_out_of_memory_test
  STEPWRIGHT_FAILURES=2000 build/release/tests/cli/cli_out_of_memory_test
}

load() {
  cmake --preset release
  cmake --build --preset release
  tools/check/under_load.sh 10
}

# Other plans each night: the seed is the day.
judges() {
  cmake --preset release
  cmake --build --preset release --target stepwright launch_groups
  STEPWRIGHT_DRAWS=200 STEPWRIGHT_SEED=$(date +%Y%m%d) ctest --preset release \
    -R '^framework_files_(titan_starts|drawn_judges)_test$'
}

[ $# -gt 0 ] || set -- tidy files headers lto debug noinline asan tsan memory load judges fuzz
for part in "$@"; do
  echo "check-all: $part"
  case $part in
    tidy | files | headers | lto | debug | memory | load | judges) $part ;;
    noinline | asan | tsan) suite "$part" ;;
    fuzz) tools/check/fuzz.sh 5 -seed=1 ;;
    *) sed -n '/^#   /s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
