# Compiles for aarch64 on another machine, with Debian's cross compiler; libraries and headers are
# those of the arm64 packages that `tools/setup.sh wheels` unpacks.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64/root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(PYBIND11_USE_CROSSCOMPILING ON)  # modules are named as SETUPTOOLS_EXT_SUFFIX says
