#!/usr/bin/env bash
# Fits all profiles from data/ into a folder: tools/data/profiles.sh COMMAND [FOLDER]
set -euo pipefail
command=$(realpath "$1")
folder=$(realpath "${2:-$(dirname "$0")/../../profiles}")
cd "$(dirname "$0")/../../data/operators"

"$command" fit a100_sxm4_80g.csv -o "$folder/a100_sxm4_80g_perlmutter.json"
"$command" fit gh200_120g.csv -o "$folder/gh200_120g_vista.json"
for device in h100-sxm-80g h200-sxm b200-sxm gb200; do
  "$command" fit other_gpus.csv --device $device -o "$folder/$device.json"
done

cd ../collectives
"$command" fit gh200_120g_vista.csv a100_sxm4_80g_perlmutter.csv other_clusters.csv \
  -o "$folder/collectives/"
