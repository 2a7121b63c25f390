# The rooms, lowest floor first.
set(STEPWRIGHT_ROOMS core launch_scripts capture checkpoint model cluster collective schedule packing plan huggingface framework_files step transport process_group cost
  traffic logs memory snapshot diagnose fit simulate interleave tune whole_run phases study validate learn report check explore answers collective_files runtime sample lab serve mcp cli)

# Adds the folder of each room below the current one that has a CMakeLists.txt. The highest first:
# Ninja starts in this order, and what takes longest should not start last.
function(stepwright_add_rooms)
  list(REVERSE STEPWRIGHT_ROOMS)
  foreach(room IN LISTS STEPWRIGHT_ROOMS)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt")
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# C++20, the warnings and the include path (the repository root) of every target of the project. A
# release is optimised lightly: a search and the readers of logs take no longer than at -O3 (within
# 3 %), and sources compile in two thirds of the time.
function(stepwright_settings target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  # Code that can lie anywhere in memory (a Python module holds rooms) calls and inlines as other code.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
  # GCC collects its garbage from 128 MB on, again and again; a large room ends below 2 GB without.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=2000000>)
  # A designated initialiser leaves the rest at its default on purpose; GCC 12 sees an overlap in
  # `"text" + std::string` where there is none.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
    -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CONFIG:Release>:-O1>)
  # fmt says `#pragma GCC optimize` where nothing is optimised, after which GCC believes that all is
  # and Eigen's headers do not compile; so the build to debug has the level that GCC means for it.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CONFIG:Debug>,$<CXX_COMPILER_ID:GNU>>:-Og>)
  # Products and sums that a processor can join in one instruction round twice all the same, so that
  # answers are those of x86-64, which has no such instruction.
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
endfunction()

# Links rooms and libraries to a target, visible to whoever uses it.
function(stepwright_link target rooms libraries)
  list(TRANSFORM rooms PREPEND "stepwright::")
  target_link_libraries(${target} PUBLIC ${rooms} ${libraries})
endfunction()

# stepwright_room(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...])
# Makes the static library stepwright_<name>, known to others as stepwright::<name>.
function(stepwright_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;ROOMS;LIBRARIES")
  stepwright_no_rest("${name}" "${room_UNPARSED_ARGUMENTS}")
  add_library(stepwright_${name} STATIC ${room_SOURCES})
  add_library(stepwright::${name} ALIAS stepwright_${name})
  if(NOT EMSCRIPTEN)
    set_target_properties(stepwright_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  stepwright_settings(stepwright_${name})
  stepwright_link(stepwright_${name} "${room_ROOMS}" "${room_LIBRARIES}")
  if(NOT "stepwright::torch" IN_LIST room_LIBRARIES)
    stepwright_headers(stepwright_${name})
  endif()
endfunction()

# Gives a room what nearly every source includes, precompiled once for all rooms without torch.
function(stepwright_headers target)
  if(NOT TARGET stepwright_precompiled)
    add_library(stepwright_precompiled OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
    if(NOT EMSCRIPTEN)
      set_target_properties(stepwright_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    stepwright_settings(stepwright_precompiled)
    target_link_libraries(stepwright_precompiled PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(stepwright_precompiled PRIVATE
      <algorithm> <filesystem> <functional> <map> <memory> <numeric> <optional> <ranges> <set> <span>
      <sstream> <string> <tuple> <unordered_map> <variant> <vector>
      <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} REUSE_FROM stepwright_precompiled)
endfunction()

# stepwright_command(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...])
# Makes a command, which ends up at the top of the build folder; the target `commands` makes all.
function(stepwright_command name)
  cmake_parse_arguments(PARSE_ARGV 1 command "" "" "SOURCES;ROOMS;LIBRARIES")
  stepwright_no_rest("${name}" "${command_UNPARSED_ARGUMENTS}")
  add_executable(${name} ${command_SOURCES})
  if(NOT TARGET commands)
    add_custom_target(commands)
  endif()
  add_dependencies(commands ${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  stepwright_settings(${name})
  stepwright_link(${name} "${command_ROOMS}" "${command_LIBRARIES}")
endfunction()

# A misspelt keyword is an error, not a silent omission.
function(stepwright_no_rest name rest)
  if(rest)
    message(FATAL_ERROR "${name}: unknown arguments: ${rest}")
  endif()
endfunction()
