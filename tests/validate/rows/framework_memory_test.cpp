#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "stepwright/core/csv.h"
#include "stepwright/validate/validation.h"

namespace stepwright::validate {
namespace {

// What programs of frameworks allocate on fake tensors, by tools/judges/framework_memory.py.
TEST(FrameworkMemory, IsPredictedAsProgramsOfFrameworksAllocateIt) {
  const Validation validation = validate(load_csv("data/framework_memory.csv"), {.threads = 2});
  EXPECT_EQ(validation.used, validation.rows);
  for (const auto& [source, errors] : validation.groups[0]) {
    std::cout << fmt::format("{}: {} rows, median {:.1f}%, p90 {:.1f}%\n", source, errors.used,
                             100 * errors.median_abs, 100 * errors.p90_abs);
    EXPECT_LT(errors.median_abs, 0.10) << source;
    EXPECT_LT(errors.p90_abs, 0.20) << source;
  }
}

}  // namespace
}  // namespace stepwright::validate
