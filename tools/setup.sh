#!/usr/bin/env bash
# Installs what is missing for a make target on Debian or Ubuntu: tools/setup.sh plan|test|wheels|...
# `tools/setup.sh test list` only prints it: a line of packages, one of those that it can do without,
# one of lists of Python packages.
set -euo pipefail
cd "$(dirname "$0")/.."

goal=${1:-plan}
libraries=(libyaml-cpp-dev nlohmann-json3-dev libsimdjson-dev libcli11-dev libfmt-dev libeigen3-dev
  libpugixml-dev libtomlplusplus-dev libxgboost-dev libxxhash-dev zlib1g-dev)
packages=(make cmake ninja-build g++ ccache "${libraries[@]}")
case $goal in
  plan) ;;
  test) packages+=(libgtest-dev libgmock-dev python3 python3-numpy python3-jsonschema python3-venv libgloo-dev python3-dev
    iproute2) ;;
  bench) packages+=(libbenchmark-dev) ;;
  fuzz) packages+=(clang-19 libclang-rt-19-dev llvm-19) ;;
  check) packages+=(python3 python3-venv) ;;
  search|scaling) packages+=(python3) ;;
  cuda) ;;
  engine) packages+=(emscripten nodejs libfast-float-dev) ;;
  wheels) packages+=(python3 python3-dev python3-venv) ;;
  deb) packages+=(python3 dpkg-dev file) ;;
  tarball) packages+=(python3 python3-venv git) ;;
  accuracy) packages+=(python3 python3-numpy) ;;
  *) echo "usage: tools/setup.sh plan|test|bench|fuzz|check|search|scaling|accuracy|cuda|engine|wheels|deb|tarball" >&2; exit 2 ;;
esac

# What some tests use, and are skipped without; what the wheel for aarch64 needs on x86-64.
optional=()
case $goal-$(uname -m) in
  test-*) optional=(chromium fish zsh groff-base) ;;
  wheels-x86_64) optional=(g++-aarch64-linux-gnu qemu-user-static mmdebstrap) ;;
esac

# Python packages for .venv: tools of `check`; PyTorch, whose C++ library the executor links, and
# transformers, which judges it; headers of CUDA. Packages that judge files written for them have a
# folder of their own that only those tests see, those of another release a second one, programs of
# fine-tuning and of policies a third, what they import beside PyTorch's CPU build a fourth, and the
# client of the Model Context Protocol a fifth.
case $goal in
  check) pins=tools/requirements/check.txt ;;
  test) pins=tools/requirements/runtime.txt ;;
  cuda) pins=tools/requirements/cuda.txt ;;  # PyTorch's own list of them is for its build
  *) pins= ;;
esac
judges=()
[ "$goal" != test ] || judges=(tools/requirements/judges.txt tools/requirements/judges_current.txt
  tools/requirements/judges_tuning.txt tools/requirements/judges_memory.txt
  tools/requirements/agents.txt)

if [ "${2:-}" = list ]; then
  printf '%s\n' "${packages[*]}" "${optional[*]}" "$pins ${judges[*]}"
  exit
fi

absent() {
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

missing=()
wished=()
if command -v dpkg-query >/dev/null; then
  mapfile -t missing < <(absent "${packages[@]}")
  mapfile -t wished < <(absent "${optional[@]}")
else
  echo "setup: not Debian or Ubuntu; 'make $goal' needs what they call: ${packages[*]}" >&2
fi

if [ $((${#missing[@]} + ${#wished[@]})) -gt 0 ]; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if ! "${as_root[@]}" true 2>/dev/null; then
    if [ ${#missing[@]} -gt 0 ]; then
      echo "setup: 'make $goal' needs packages that are not installed: ${missing[*]}" >&2
      echo "setup: install them with: sudo apt-get update && sudo apt-get install ${missing[*]}" >&2
      exit 1
    fi
    echo "setup: went on without ${wished[*]}: what needs it is skipped" >&2
  else
    echo "setup: installing ${missing[*]} ${wished[*]}"
    apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
    "${apt[@]}" update
    [ ${#missing[@]} -eq 0 ] ||
      "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null
    [ ${#wished[@]} -eq 0 ] ||
      "${apt[@]}" install -y --no-install-recommends "${wished[@]}" </dev/null ||
      echo "setup: went on without ${wished[*]}: what needs it is skipped" >&2
  fi
fi

# Debian's arm64 packages of the same libraries and of Python, unpacked: what a cross compiler and an
# emulator take for the machine's own.
if [ "$goal" = wheels ] && command -v mmdebstrap >/dev/null; then
  arm64=build/arm64
  unpacked=("${libraries[@]}" libpython3-dev python3 python3-pip-whl)
  if [ "$(cat $arm64/packages.txt 2>/dev/null)" != "${unpacked[*]}" ]; then
    echo "setup: unpacking ${unpacked[*]} of arm64 into $arm64/root"
    rm -rf $arm64
    mkdir -p $arm64
    . /etc/os-release
    if mmdebstrap --quiet --variant=extract --arch=arm64 --include="${unpacked[*]}" "$VERSION_CODENAME" $arm64/root; then
      find $arm64/root -lname '/*' | while read -r link; do  # they mean this root
        ln -sfrn "$arm64/root$(readlink "$link")" "$link"
      done
      echo "${unpacked[*]}" >$arm64/packages.txt
    else
      echo "setup: went on without them: no wheel for aarch64" >&2
      rm -rf $arm64
    fi
  fi
fi

# Formatter and types of the page, and axe, which its tests run: once for each version of their list.
if [[ $goal =~ ^(check|test)$ ]] && command -v npm >/dev/null && [ ! web/node_modules/.package-lock.json -nt web/package-lock.json ]; then
  echo "setup: installing the packages of web/package-lock.json into web/node_modules"
  npm --prefix web ci --no-audit --no-fund --silent ||
    echo "setup: went on without them: format, types and accessibility of the page are not checked" >&2
fi

# Python packages, once for each version of their list.
[ -n "$pins" ] || exit 0
installed=.venv/installed-$goal.txt
if ! cmp -s $pins "$installed"; then
  echo "setup: installing $(tr '\n' ' ' <$pins)into .venv"
  if ! { python3 -m venv .venv && .venv/bin/pip install --quiet $([ "$goal" = cuda ] && echo --no-deps) -r $pins; }; then
    echo "setup: 'make $goal' needs python3 with venv and, from PyPI: $(tr '\n' ' ' <$pins)" >&2
    exit 1
  fi
  cp $pins "$installed"
fi

for list in "${judges[@]}"; do
  folder=.venv/$(basename "$list" .txt)
  cmp -s "$list" "$folder/installed.txt" && continue
  echo "setup: installing $(tr '\n' ' ' <"$list")into $folder"
  rm -rf "$folder"
  # Configurations are read by whatever Python there is, MaxText's also below 3.12.
  if .venv/bin/pip install --quiet --no-deps --ignore-requires-python --target "$folder" -r "$list"; then
    cp "$list" "$folder/installed.txt"
  else
    echo "setup: went on without them: tests that need them are skipped" >&2
  fi
done
