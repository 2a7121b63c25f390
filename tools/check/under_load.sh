#!/usr/bin/env bash
# Runs the tests of the release build TIMES times (10 unless said) while as many other processes as
# there are cores keep the cores busy. Stops at the first run that fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

busy=()
trap 'kill "${busy[@]}"' EXIT
for _ in $(seq "$(nproc)"); do
  while :; do :; done &
  busy+=($!)
done
for run in $(seq "${1:-10}"); do
  echo "under load: run $run"
  ctest --preset release -j "$(nproc)"
done
