#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string_view>

#include "stepwright/core/csv.h"
#include "stepwright/validate/validation.h"

namespace stepwright::validate {
namespace {

/// The largest errors allowed for a source: the median, and the 90th percentile.
struct Bars {
  double median = 0.01;
  double p90 = 0.05;
};

/// Returns sources that miss the usual limits, with the limits that they keep;
/// docs/accuracy/framework_memory.md says why.
const std::map<std::string_view, Bars>& open_sources() {
  static const std::map<std::string_view, Bars> sources = {
      {"torchtune_full_dense", {0.01, 0.055}}, {"transformers_ddp_dense", {0.015, 0.05}},
      {"trl_ddp_dense", {0.03, 0.05}},         {"trl_ddp_lora_mixture", {0.03, 0.08}},
      {"trl_fsdp2_lora_dense", {0.06, 0.11}},  {"trl_fsdp2_lora_mixture", {0.05, 0.16}}};
  return sources;
}

// Programs of frameworks run on fake tensors (tools/judges/framework_memory.py), and their
// allocated bytes judge the prediction. A source is a program with a kind of model.
TEST(FrameworkMemory, IsPredictedAsProgramsOfFrameworksAllocateIt) {
  const Validation validation =
      compare_predictions_to_measurements(load_csv("data/framework_memory.csv"), {.threads = 2});
  EXPECT_EQ(validation.used, validation.rows);
  for (const auto& [source, errors] : validation.groups[0]) {
    std::cout << fmt::format("{}: {} rows, median {:.1f}%, p90 {:.1f}%\n", source, errors.used,
                             100 * errors.median_abs, 100 * errors.p90_abs);
    const auto known = open_sources().find(source);
    const Bars bars = known == open_sources().end() ? Bars{} : known->second;
    EXPECT_LT(errors.median_abs, bars.median) << source;
    EXPECT_LT(errors.p90_abs, bars.p90) << source;
  }
}

}  // namespace
}  // namespace stepwright::validate
