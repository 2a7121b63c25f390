option(STEPWRIGHT_FUZZ "Build the libFuzzer targets (clang only) instead of the tests" OFF)

# stepwright_test(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...]
#                 [LABELS <label>...] [SERIAL])
# One GoogleTest binary and one ctest entry, run from the repository root with the path of the
# command in STEPWRIGHT_COMMAND. SERIAL: nothing else runs beside it.
function(stepwright_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "SERIAL" "" "SOURCES;ROOMS;LIBRARIES;LABELS")
  stepwright_no_rest("${name}" "${test_UNPARSED_ARGUMENTS}")
  if(STEPWRIGHT_FUZZ)
    return()
  endif()
  add_executable(${name} ${test_SOURCES})
  stepwright_settings(${name})
  stepwright_link(${name} "${test_ROOMS}" "${test_LIBRARIES};GTest::gmock;GTest::gtest_main")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${test_LABELS}" TIMEOUT 600
    RUN_SERIAL "${test_SERIAL}" ENVIRONMENT "STEPWRIGHT_COMMAND=${PROJECT_BINARY_DIR}/stepwright")
endfunction()

# stepwright_fuzz(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...])
# One libFuzzer binary in <build>/fuzz/, the name ends in _fuzz; nothing unless STEPWRIGHT_FUZZ is on
# and the compiler is clang. Seeds, if any, are the files of tests/<room>/corpus/<name>/.
function(stepwright_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 fuzz "" "" "SOURCES;ROOMS;LIBRARIES")
  stepwright_no_rest("${name}" "${fuzz_UNPARSED_ARGUMENTS}")
  if(NOT STEPWRIGHT_FUZZ OR NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  add_executable(${name} ${fuzz_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  stepwright_settings(${name})
  stepwright_link(${name} "${fuzz_ROOMS}" "${fuzz_LIBRARIES}")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endfunction()
