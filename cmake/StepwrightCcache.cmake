# Compiles through ccache where it is installed and can write its cache.
find_program(STEPWRIGHT_CCACHE ccache)
mark_as_advanced(STEPWRIGHT_CCACHE)
if(STEPWRIGHT_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  execute_process(
    COMMAND "${STEPWRIGHT_CCACHE}" "${CMAKE_CXX_COMPILER}" -c -x c++ /dev/null
            -o "${PROJECT_BINARY_DIR}/CMakeFiles/ccache.o"
    RESULT_VARIABLE ccache_result OUTPUT_QUIET ERROR_QUIET)
  if(ccache_result EQUAL 0)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${STEPWRIGHT_CCACHE}")
  endif()
endif()
