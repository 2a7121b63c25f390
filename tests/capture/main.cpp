#include <gtest/gtest.h>

#include <cstdio>

#include "stepwright/capture/stand_in.h"

/// Stand-ins are links to the running program, which is this test.
int main(int argc, char** argv) {
  if (const auto code = stepwright::capture::run_launcher_stand_in(argc, argv)) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
