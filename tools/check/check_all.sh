#!/usr/bin/env bash
# What takes too long for every change. Parts, in the order in which they run:
#   tidy      names and usual mistakes in every source (clang-tidy)
#   files     each source by itself, without precompiled headers (the dev build)
#   headers   each header by itself
#   lto       names with two definitions: a link of each command as one program
#   debug     a build without optimisation
#   noinline  the planner's suite without inlining
#   asan      the planner's suite under the address and undefined behaviour sanitizers: on two cores
#             25 minutes to build; 121 of its 128 entries took 4.9 hours of test time beside other work
#   tsan      the planner's suite under the thread sanitizer
#   memory    commands in which one of 2,000 allocations fails
#   attack    4,000 hostile files and options before every command
#   load      the whole suite ten times while other processes keep the cores busy
#   judges    200 exported plans of each framework before its own package, and 40 first answers of
#             tune, exported and imported again
#   samples   the suite's random jobs and plans, five to ten times as many
#   programs  steps of frameworks on tensors without contents, beside the table of an earlier run
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

# Other inputs each night: the seed is the day.
attack() {
  cmake --preset release
  cmake --build --preset release --target stepwright
  STEPWRIGHT_ATTACKS=4000 STEPWRIGHT_SEED=$(date +%Y%m%d) ctest --preset release \
    --timeout 6000 -R '^cli_attack_test$'
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
  STEPWRIGHT_DRAWS=200 STEPWRIGHT_JOBS=40 STEPWRIGHT_CONFIGURATIONS=4 STEPWRIGHT_SEED=$(date +%Y%m%d) \
    ctest --preset release --timeout 6000 \
    -R '^(framework_files_(titan_starts|drawn_judges|tuning_judges)|answers_first_answers|huggingface_judge)_test$'
}

# Many more jobs and plans than the samples of the suite.
samples() {
  cmake --preset release
  cmake --build --preset release
  STEPWRIGHT_RANDOM_JOBS=200 STEPWRIGHT_RANDOM_PLANS=60 ctest --preset release --timeout 20000 \
    -R '^(tune|framework_files_listed|runtime_random)_test$'
}

programs() {
  .venv/bin/python -B tools/check/framework_memory.py
}

[ $# -gt 0 ] ||
  set -- tidy files headers lto debug noinline asan tsan memory attack load judges samples programs fuzz
for part in "$@"; do
  echo "check-all: $part"
  case $part in
    tidy | files | headers | lto | debug | memory | attack | load | judges | samples | programs) $part ;;
    noinline | asan | tsan) suite "$part" ;;
    fuzz) tools/check/fuzz.sh 5 -seed=1 ;;
    *) sed -n '/^#   /s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
