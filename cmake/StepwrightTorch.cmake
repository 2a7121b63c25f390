# Sets STEPWRIGHT_TORCH when PyTorch's C++ library and gloo's headers are there, and makes
# stepwright::torch. STEPWRIGHT_RUNTIME: AUTO (build the executor if it can be), ON (fail if not),
# OFF.
set(STEPWRIGHT_RUNTIME AUTO CACHE STRING "Build the executor: AUTO, ON or OFF")
set_property(CACHE STEPWRIGHT_RUNTIME PROPERTY STRINGS AUTO ON OFF)
set(STEPWRIGHT_TORCH OFF)
option(STEPWRIGHT_CUDA_OBJECTS "A target that compiles the CUDA sources beside a PyTorch without CUDA" OFF)

# PyTorch in a folder of Python's packages as a library for CPUs. Its own files of CMake end a
# configuration where it is one for CUDA, as PyPI has it, and the toolkit is not there.
function(stepwright_torch_for_cpus home)
  set(TORCH_INCLUDE_DIRS "${home}/include" "${home}/include/torch/csrc/api/include" PARENT_SCOPE)
  set(TORCH_LIBRARIES "${home}/lib/libtorch_cpu.so" "${home}/lib/libc10.so" PARENT_SCOPE)
  set(Torch_FOUND ON PARENT_SCOPE)
endfunction()

function(stepwright_find_torch)
  set(python "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  if(Torch_DIR)
    get_filename_component(home "${Torch_DIR}/../../.." ABSOLUTE)
  elseif(EXISTS "${python}")
    execute_process(
      COMMAND "${python}" -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE home OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(EXISTS "${home}/version.py")
    list(PREPEND CMAKE_PREFIX_PATH "${home}/share/cmake")
    file(STRINGS "${home}/version.py" for_cuda REGEX "^cuda.*'")
  endif()
  if(for_cuda)  # looked for as PyTorch does
    list(APPEND CMAKE_MODULE_PATH "${home}/share/cmake/Caffe2/Modules_CUDA_fix")
    find_package(CUDA QUIET)
  endif()
  if(for_cuda AND NOT CUDA_FOUND)
    message(STATUS "PyTorch is one for CUDA, whose toolkit is not here: the executor is built for CPUs")
    stepwright_torch_for_cpus("${home}")
  else()
    find_package(Torch QUIET)
  endif()
  find_path(STEPWRIGHT_GLOO_INCLUDE gloo/algorithm.h)
  mark_as_advanced(STEPWRIGHT_GLOO_INCLUDE)
  if(NOT Torch_FOUND OR NOT STEPWRIGHT_GLOO_INCLUDE)
    if(STEPWRIGHT_RUNTIME STREQUAL ON)
      message(FATAL_ERROR "STEPWRIGHT_RUNTIME=ON needs torch (in .venv or CMAKE_PREFIX_PATH) and libgloo-dev")
    endif()
    return()
  endif()
  add_library(stepwright_torch INTERFACE)
  add_library(stepwright::torch ALIAS stepwright_torch)
  target_include_directories(stepwright_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(stepwright_torch INTERFACE ${TORCH_LIBRARIES})
  target_compile_definitions(stepwright_torch INTERFACE USE_C10D_GLOO
    FMT_HEADER_ONLY=1)  # torch brings newer headers of fmt than the system's library
  if(TARGET torch_cuda)
    target_compile_definitions(stepwright_torch INTERFACE USE_C10D_NCCL)
  endif()
  set(STEPWRIGHT_TORCH ON PARENT_SCOPE)
endfunction()

if(NOT STEPWRIGHT_RUNTIME STREQUAL OFF)
  stepwright_find_torch()
endif()

# Gives a target the headers of PyTorch precompiled: the first makes them, the others use its. They
# agree in position independence, which a Python module asks for. What runs beside torch is
# optimised fully.
function(stepwright_torch_headers target)
  target_compile_options(${target} PRIVATE -fPIC $<$<CONFIG:Release>:-O3>)
  get_property(first GLOBAL PROPERTY STEPWRIGHT_TORCH_HEADERS)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY STEPWRIGHT_TORCH_HEADERS ${target})
    target_precompile_headers(${target} PRIVATE
      <ATen/ATen.h> <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>)
  endif()
endfunction()

# Headers of the CUDA toolkit, and of NVIDIA's libraries as PyPI has them.
if(STEPWRIGHT_TORCH AND STEPWRIGHT_CUDA_OBJECTS)
  find_path(STEPWRIGHT_CUDA_RUNTIME cuda_runtime_api.h
    HINTS /usr/local/cuda/include $ENV{CUDA_HOME}/include REQUIRED)
  file(GLOB STEPWRIGHT_CUDA_INCLUDES
    "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/*/include")
  list(APPEND STEPWRIGHT_CUDA_INCLUDES "${STEPWRIGHT_CUDA_RUNTIME}")
endif()
