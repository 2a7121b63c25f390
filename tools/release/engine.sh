#!/usr/bin/env bash
# Builds the explorer: the planner for browsers in the report's page, one file that needs nothing
# else. tools/release/engine.sh FILE
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build/engine
sources=$PWD/$build/sources
mkdir -p $sources

# The packages of these two libraries hold them compiled for this machine; their sources are packages,
# too. Lists of them are kept here, so that those of the machine stay as they are.
fetch() {
  local apt=$PWD/apt
  mkdir -p $apt/lists/partial $apt/cache $apt/etc
  local lists=/etc/apt/sources.list
  cat $lists.d/*.sources 2>/dev/null | sed 's/^Types:.*/Types: deb-src/' >$apt/etc/src.sources || true
  cat $lists $lists.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >$apt/etc/src.list || true
  local options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$apt/etc
    -o Dir::State::lists=$apt/lists -o Dir::Cache=$apt/cache)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" source --download-only yaml-cpp simdjson
}
unpack() {
  mkdir -p "$1"
  tar -x -f "$1"_*.orig.tar.* -C "$1" --strip-components 1
}
if [ ! -d $sources/simdjson ]; then
  (cd $sources && fetch && unpack yaml-cpp && unpack simdjson)
fi

emcmake cmake -G Ninja -S web/engine -B $build -D STEPWRIGHT_SOURCES=$sources -D CMAKE_BUILD_TYPE=MinSizeRel \
  -D CMAKE_CXX_FLAGS_MINSIZEREL="-O2 -DNDEBUG" -D CMAKE_UNITY_BUILD=ON -D CMAKE_UNITY_BUILD_BATCH_SIZE=0 \
  -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON
cmake --build $build
cp $build/explorer.html "$1.new"
mv "$1.new" "$1"
