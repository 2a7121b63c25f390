option(STEPWRIGHT_FUZZ "Build the libFuzzer targets (clang only) instead of the tests" OFF)
set(STEPWRIGHT_PATIENCE 1 CACHE STRING "Factor on the time limits of tests, for builds that are slow")
math(EXPR STEPWRIGHT_LIMIT_S "600 * ${STEPWRIGHT_PATIENCE}")        # of one script
math(EXPR STEPWRIGHT_SUITE_LIMIT_S "1800 * ${STEPWRIGHT_PATIENCE}")  # of the cases of one binary

# stepwright_test(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...]
#                 [COMMANDS <command>...] [LABELS <label>...] [COST <seconds>])
# One GoogleTest binary and one ctest entry of all its cases but those of its parts (below), run
# from the repository root with the path of the command in STEPWRIGHT_COMMAND. COMMANDS are built
# before it; entries of a higher COST start earlier (seconds on busy cores; their order counts).
function(stepwright_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "COST" "SOURCES;ROOMS;LIBRARIES;COMMANDS;LABELS")
  stepwright_no_rest("${name}" "${test_UNPARSED_ARGUMENTS}")
  if(STEPWRIGHT_FUZZ)
    return()
  endif()
  add_executable(${name} ${test_SOURCES})
  stepwright_link(${name} "${test_ROOMS}" "${test_LIBRARIES};GTest::gmock;GTest::gtest_main")
  stepwright_settings(${name})
  if("executor" IN_LIST test_ROOMS)
    stepwright_torch_headers(${name})
  else()
    target_precompile_headers(${name} REUSE_FROM stepwright_test_headers)
  endif()
  if(test_COMMANDS)
    add_dependencies(${name} ${test_COMMANDS})
  endif()
  stepwright_test_entry(${name} ${name} "-$<JOIN:$<TARGET_PROPERTY:${name},STEPWRIGHT_PARTS>,:>"
    LABELS ${test_LABELS} COST ${test_COST})
endfunction()

# stepwright_test_part(<entry> OF <name> CASES <pattern>... [LABELS <label>...] [COST <seconds>]
#                      [SERIAL])
# A ctest entry of its own for the cases of a binary that GoogleTest's patterns select. SERIAL:
# nothing else runs beside it.
function(stepwright_test_part entry)
  cmake_parse_arguments(PARSE_ARGV 1 part "SERIAL" "OF;COST" "CASES;LABELS")
  stepwright_no_rest("${entry}" "${part_UNPARSED_ARGUMENTS}")
  if(STEPWRIGHT_FUZZ)
    return()
  endif()
  set_property(TARGET ${part_OF} APPEND PROPERTY STEPWRIGHT_PARTS ${part_CASES})
  list(JOIN part_CASES ":" cases)
  stepwright_test_entry(${entry} ${part_OF} "${cases}" LABELS ${part_LABELS} COST ${part_COST})
  set_tests_properties(${entry} PROPERTIES RUN_SERIAL "${part_SERIAL}")
endfunction()

# The ctest entry of one filter of a binary.
function(stepwright_test_entry entry binary filter)
  cmake_parse_arguments(PARSE_ARGV 3 entry "" "COST" "LABELS")
  add_test(NAME ${entry} COMMAND ${binary} "--gtest_filter=${filter}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # A pattern that no case has any more is a mistake.
  set_tests_properties(${entry} PROPERTIES LABELS "${entry_LABELS}" TIMEOUT ${STEPWRIGHT_SUITE_LIMIT_S}
    FAIL_REGULAR_EXPRESSION "Running 0 tests"
    ENVIRONMENT "STEPWRIGHT_COMMAND=${PROJECT_BINARY_DIR}/stepwright")
  if(entry_COST)
    set_tests_properties(${entry} PROPERTIES COST ${entry_COST})
  endif()
endfunction()

# stepwright_fuzz(<name> SOURCES <file>... [ROOMS <room>...] [LIBRARIES <target>...])
# The name ends in _fuzz. With STEPWRIGHT_FUZZ one libFuzzer binary in <build>/fuzz/; else a test
# that gives its entry point each file of tests/<room>/corpus/<name>/, the seeds of the former.
function(stepwright_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 fuzz "" "" "SOURCES;ROOMS;LIBRARIES")
  stepwright_no_rest("${name}" "${fuzz_UNPARSED_ARGUMENTS}")
  add_executable(${name} ${fuzz_SOURCES})
  stepwright_settings(${name})
  stepwright_link(${name} "${fuzz_ROOMS}" "${fuzz_LIBRARIES}")
  if(STEPWRIGHT_FUZZ)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    return()
  endif()
  target_link_libraries(${name} PRIVATE stepwright_replay)
  add_test(NAME ${name} COMMAND ${name} "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 60)
endfunction()
