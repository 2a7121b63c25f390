#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr const char* kTinyPlan = "examples/tiny-moe.plan.yaml";

Json learned_json(const Workplace& place, const std::string& arguments) {
  const Outcome outcome = place.run(arguments + " --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

/// Returns the plan with a file of conditions in its job.
std::string with_conditions(const std::string& file) {
  std::string text = content_of(kTinyPlan);
  const std::string before = "  routing: learned\n";
  return text.insert(text.find(before), "  conditions: " + file + "\n");
}

/// Returns the bytes of the first stage that are reserved for the framework.
std::int64_t reserve_of(const Json& answer) {
  return answer["stages"][0]["kinds"]["framework_reserve"].get<std::int64_t>();
}

TEST(FitSnapshot, WritesConditionsThatSetTheMemoryOfAPlan) {
  const Workplace place;
  place.write("rank0.pickle", content_of("tests/snapshot/data/torch-2.6.pickle"));
  const Json learned = learned_json(
      place, std::string("fit --snapshot rank0.pickle ") + kTinyPlan + " -o mine.yaml");
  EXPECT_THAT(place.read("mine.yaml"), HasSubstr("memory:\n  - {framework: "));
  place.write("plan.yaml", with_conditions("mine.yaml"));
  const Json with = learned_json(place, "memory plan.yaml"),
             without = learned_json(place, std::string("memory ") + kTinyPlan);
  const Json& kinds = with["stages"][0]["kinds"];
  double tensors = 0;
  for (const char* kind :
       {"activations", "logits", "gathered_parameters", "communication_buffers"}) {
    tensors += kinds[kind].get<double>();
  }
  const double margins =
      learned["other_bytes"].get<double>() + learned["fragmentation"].get<double>() * tensors;
  // Memory outside of the allocator is the same with a snapshot and without.
  EXPECT_GT(reserve_of(with), margins);
  place.write("none.yaml",
              "stepwright: training/1\nsource: none\ndevices: []\nframeworks: []\n"
              "memory: [{framework: \"\", other_bytes: 1000}]\n");
  place.write("other.yaml", with_conditions("none.yaml"));
  const Json other = learned_json(place, "memory other.yaml");
  EXPECT_NEAR(static_cast<double>(reserve_of(with) - reserve_of(other)), margins - 1000, 1.5);
  EXPECT_NE(reserve_of(with), reserve_of(without));
  // A second fit keeps the rest of the file.
  place.run(std::string("fit --snapshot rank0.pickle ") + kTinyPlan +
            " --conditions none.yaml -o both.yaml");
  EXPECT_THAT(place.read("both.yaml"), HasSubstr("source: none"));
}

TEST(FitSnapshot, RefusesWhatBelongsElsewhere) {
  const Workplace place;
  place.write("s.pickle", content_of("tests/snapshot/data/torch-2.6.pickle"));
  place.write("cut.pickle", content_of("tests/snapshot/data/torch-2.6.pickle").substr(0, 500));
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = place.run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    return outcome.err;
  };
  EXPECT_THAT(refused("fit --snapshot s.pickle"), HasSubstr("--snapshot needs one PLAN"));
  EXPECT_THAT(refused(std::string("fit --snapshot s.pickle --device a100 ") + kTinyPlan),
              HasSubstr("--device"));
  EXPECT_THAT(refused(std::string("memory --snapshot cut.pickle -- ") + kTinyPlan),
              HasSubstr("cut.pickle: byte "));
  EXPECT_THAT(refused("fit --conditions s.pickle s.csv -o p.json"), HasSubstr("--conditions"));
  EXPECT_THAT(
      refused(std::string("memory --write-snapshot s.pickle --snapshot s.pickle -- ") + kTinyPlan),
      HasSubstr("s.pickle"));
}

}  // namespace
}  // namespace stepwright::cli
