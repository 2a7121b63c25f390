#include "stepwright/fit/readable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/cost/training_conditions.h"

namespace stepwright::fit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Check = void (*)(const FittedConstantsFile&);

std::string refusal(Check check, const std::string& text) {
  try {
    check({text, "out.json", {"a.csv", "b.csv"}});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "nothing";
}

std::string measured_of(std::string_view lists) {
  return fmt::format(R"({{"stepwright": "measured/1", "name": "n", {}}})", lists);
}

TEST(Readable, AMeasuredProfileThatAJobReads) {
  EXPECT_EQ(refusal(check_measured_profile_readable, measured_of(R"("messages": [{"library": "gloo",
      "operation": "all_gather", "start_us": 12, "inside_bytes_per_s": 1e9}],
      "computations": [{"operator": "linear", "phase": "forward", "dtype": "fp32",
      "flops_per_s": 4e10, "rows": 3}])")),
            "nothing");
}

TEST(Readable, RefusesAMeasuredProfileByTheFilesThatWereFitted) {
  EXPECT_THAT(
      refusal(check_measured_profile_readable, measured_of(R"("messages": [{"library": "gloo",
                  "operation": "all_gather", "start_us": 1e15}])")),
      AllOf(HasSubstr("a.csv, b.csv: the times cannot be fitted"), HasSubstr("out.json"),
            HasSubstr("messages.0.start_us"), HasSubstr("1e15")));
  EXPECT_THAT(
      refusal(check_measured_profile_readable, measured_of(R"("messages": [{"library": "ring",
                  "operation": "all_gather", "chunk_bytes": 0.5}])")),
      HasSubstr("messages.0.chunk_bytes"));
  EXPECT_THAT(refusal(check_measured_profile_readable,
                      measured_of(R"("overlap": {"beside_inside": null})")),
              HasSubstr("overlap.beside_inside"));
}

TEST(Readable, RefusesAComputationThatTakesNoTime) {
  EXPECT_THAT(
      refusal(check_measured_profile_readable,
              measured_of(R"("computations": [{"operator": "linear",
                  "phase": "forward", "dtype": "fp32", "rows": 11}])")),
      AllOf(HasSubstr("a.csv, b.csv"), HasSubstr("computations.0"), HasSubstr("it takes no time")));
}

std::string operators_of(double memory_share) {
  return fmt::format(R"({{"stepwright": "profile/1", "name": "p", "device": {{
      "name": "h100-sxm-80g", "peak_flops": 1e15, "memory_bandwidth_bytes_per_s": 3e12,
      "multiprocessors": 132}}, "operators": [{{"class": "residual", "pass": "forward",
      "chosen": "law", "law": {{"start_us": 4, "memory_share": {}, "row_ns": 0}}, "range": {{}}}}]}})",
                     memory_share);
}

TEST(Readable, RefusesOperatorsThatNoProfileHolds) {
  EXPECT_EQ(refusal(check_operator_profile_readable, operators_of(0.6)), "nothing");
  EXPECT_THAT(refusal(check_operator_profile_readable, operators_of(1e-13)),
              AllOf(HasSubstr("a.csv, b.csv"), HasSubstr("operators.0.law.memory_share")));
}

std::string collectives_of(double inside_share) {
  return fmt::format(R"({{"stepwright": "profile/1", "name": "p", "collectives": [
      {{"library": "nccl", "operations": {{"all_reduce": {{"inside_share": {}}}}}}}]}})",
                     inside_share);
}

TEST(Readable, RefusesCollectivesThatNoProfileHolds) {
  EXPECT_EQ(refusal(check_collectives, collectives_of(0.8)), "nothing");
  EXPECT_THAT(refusal(check_collectives, collectives_of(7)),
              AllOf(HasSubstr("a.csv, b.csv"), HasSubstr("collectives.0.operations.all_reduce")));
}

TEST(Readable, RefusesConditionsThatNoJobReads) {
  cost::TrainingConditions conditions = cost::built_in_training_conditions();
  EXPECT_EQ(refusal(check_conditions, cost::training_conditions_yaml(conditions)), "nothing");
  conditions.devices.front().product_rate = 0.0999;
  EXPECT_THAT(refusal(check_conditions, cost::training_conditions_yaml(conditions)),
              AllOf(HasSubstr("a.csv, b.csv"), HasSubstr("devices.0.product_rate")));
}

}  // namespace
}  // namespace stepwright::fit
