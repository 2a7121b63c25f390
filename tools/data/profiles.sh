#!/usr/bin/env bash
# Fits all profiles from data/ into a folder: tools/data/profiles.sh COMMAND [FOLDER]
# The folder's profiles are replaced when all of them are fitted; a failure leaves them as they were.
set -euo pipefail
command=$(realpath "$1")
folder=$(realpath "${2:-$(dirname "$0")/../../profiles}")
cd "$(dirname "$0")/../../data/operators"
new=$(mktemp -d "$folder/.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/collectives" "$folder/collectives"

"$command" fit a100_sxm4_80g.csv -o "$new/a100_sxm4_80g_perlmutter.json"
"$command" fit gh200_120g.csv -o "$new/gh200_120g_vista.json"
for device in h100-sxm-80g h200-sxm b200-sxm gb200; do
  "$command" fit other_gpus.csv --device $device -o "$new/$device.json"
done

cd ../collectives
"$command" fit gh200_120g_vista.csv a100_sxm4_80g_perlmutter.csv other_clusters.csv \
  -o "$new/collectives/"

mv "$new"/collectives/*.json "$folder/collectives/"
mv "$new"/*.json "$folder/"
