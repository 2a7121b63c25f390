#!/usr/bin/env bash
# Builds the wheels of the planner, with the libraries that they need inside, and tries them: one for
# this machine and, on x86-64, one for aarch64, whose answers under an emulator must be the same. Their
# tags say which glibc they need at least: that of the compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$PWD/build/wheels
raw=$folder/raw
root=$PWD/build/arm64/root
processor=$(uname -m)
example=$PWD/examples/llama-3-70b.plan.yaml
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export CXXFLAGS="${CXXFLAGS:-} -ffile-prefix-map=$PWD=."
typed="import stepwright; print(stepwright.predict('$example').step_time_s, 's')"

python3 -m venv "$folder/tools"
export PATH=$folder/tools/bin:$PATH
pip install --quiet -r tools/requirements/wheels.txt
rm -rf "$raw" "$folder"/*.whl "$folder/installed"

echo "wheels: building the planner for $processor, some minutes on two cores"
pip wheel --no-deps --no-build-isolation --wheel-dir "$raw" .
auditwheel repair --wheel-dir "$folder" "$raw"/*"_$processor.whl"
python3 -B tools/release/repack.py "$folder"/*"_$processor.whl"
python3 -m venv "$folder/installed/$processor"
"$folder/installed/$processor/bin/pip" install --quiet --no-deps "$folder"/*"_$processor.whl"
"$folder/installed/$processor/bin/python" -c "$typed"
tried=("$folder/installed/$processor/bin/stepwright")

# What this machine lacks for the wheel of aarch64, a line each.
lacks() {
  local version
  command -v aarch64-linux-gnu-g++ >/dev/null || echo "g++-aarch64-linux-gnu is not installed"
  command -v qemu-aarch64-static >/dev/null || echo "qemu-user-static is not installed"
  version=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  [ -x "$root/usr/bin/$version" ] ||
    echo "${root#"$PWD/"} has no $version: mmdebstrap is not installed, or the distribution has another version"
}

if [ "$processor" = x86_64 ]; then
  lacking=$(lacks)
  if [ -n "$lacking" ]; then
    sed 's/^/wheels: none for aarch64: /' <<<"$lacking"
  else
    echo "wheels: building the planner for aarch64, some minutes on two cores"
    headers=$(echo "$root"/usr/include/python3.*)
    suffix=$(python3 -c 'import sys; print(".cpython-%d%d-aarch64-linux-gnu.so" % sys.version_info[:2])')
    CMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64.cmake _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=$suffix \
      pip wheel --no-deps --no-build-isolation --wheel-dir "$raw" -C cmake.define.Python_INCLUDE_DIR="$headers" .
    auditwheel repair --wheel-dir "$folder" --ldpaths "$root/usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu" \
      "$raw"/*_aarch64.whl
    python3 -B tools/release/repack.py "$folder"/*_aarch64.whl
    python=(qemu-aarch64-static -L "$root" -E "PYTHONPATH=$folder/installed/aarch64" "$root/usr/bin/python3")
    pip=$(echo "$root"/usr/share/python-wheels/pip-*.whl)/pip
    "${python[@]}" "$pip" install --quiet --no-deps --no-index --root-user-action ignore \
      --target "$folder/installed/aarch64" "$folder"/*_aarch64.whl
    "${python[@]}" -c "$typed"
    tried+=("${python[*]} -m stepwright")
  fi
fi

python3 -B tools/release/try_packages.py "${tried[@]}"
sha256sum "$folder"/*.whl
