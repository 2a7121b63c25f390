// Compares `traffic --sweep` with separate answers for each of its values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kSweptPlan = "examples/tiny-llama.plan.yaml";

json sweep_answer(const std::string& arguments) {
  const Workplace place;
  const Outcome outcome = place.run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out);
}

double sent_bytes_of_point(const json& point) {
  double sum = 0;
  for (const json& scheme : point["by_scheme"]) sum += scheme["sent_bytes"].get<double>();
  return sum;
}

TEST(TrafficSweep, EachPointIsThePlanWithThatValue) {
  const json answer =
      sweep_answer(std::string("traffic ") + kSweptPlan + " --sweep sharding=NNN,GGG --json");
  const json& points = answer["sweep"];
  ASSERT_EQ(points.size(), 2U);
  for (const json& point : points) {
    const std::string value = point["value"];
    const json alone =
        sweep_answer(std::string("predict ") + kSweptPlan + " --set sharding=" + value + " --json");
    EXPECT_DOUBLE_EQ(point["step_time_s"].get<double>(),
                     alone["changed"]["step_time_s"].get<double>());
    const double tokens = point["tokens_per_s"].get<double>() * point["step_time_s"].get<double>();
    EXPECT_DOUBLE_EQ(point["sent_bytes_per_token"].get<double>(),
                     sent_bytes_of_point(point) / tokens);
  }
  const auto data_bytes = [&](std::size_t point) {
    return points[point]["by_scheme"]["data"]["sent_bytes"].get<double>();
  };
  EXPECT_GT(data_bytes(1), 5 * data_bytes(0));  // gathers of parameters, twice, and scatters
}

TEST(TrafficSweep, LongerSequencesSendAsMuchForEachTokenByTensorParallelism) {
  const json answer =
      sweep_answer(std::string("traffic ") + kSweptPlan + " --sweep batch.length=128,256 --json");
  const json& points = answer["sweep"];
  const auto tensor_bytes = [&](std::size_t point) {
    return points[point]["by_scheme"]["tensor"]["sent_bytes"].get<double>();
  };
  EXPECT_NEAR(tensor_bytes(1) / tensor_bytes(0), 2, 0.01);
  EXPECT_LT(points[1]["sent_bytes_per_token"], points[0]["sent_bytes_per_token"]);
}

TEST(TrafficSweep, SaysWhyAValueIsNoPlan) {
  const json answer =
      sweep_answer(std::string("traffic ") + kSweptPlan + " --sweep parallel.tensor=2,3 --json");
  EXPECT_FALSE(answer["sweep"][0].contains("refused"));
  EXPECT_THAT(answer["sweep"][1]["refused"].get<std::string>(), HasSubstr("world-size"));
}

TEST(TrafficSweep, NamesWhatIsNoSweep) {
  const Workplace place;
  for (const auto& [text, said] : {std::pair{"sharding", "must be FIELD=VALUE"},
                                   {"=NNN", "must be FIELD=VALUE"},
                                   {"sharding=NNN,", "a value is missing"},
                                   {"shardng=NNN", "unknown field"}}) {
    const Outcome outcome = place.run(std::string("traffic ") + kSweptPlan + " --sweep " + text);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(said));
  }
}

}  // namespace
}  // namespace stepwright::cli
