#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns samples of all-reduces on two nodes of Vista at 40 GB/s after 90 us; one sample was
/// interrupted, one is impossible.
std::string samples() {
  std::string text = "op,nodes,gpus_per_node,elements_fp16,time_us\n";
  for (int i = 1; i <= 60; ++i) {
    text +=
        "all_reduce,2,1," + std::to_string(i * 1000000) + "," + std::to_string(90 + 50 * i) + "\n";
  }
  return text + "all_reduce,2,1,1000000,4000\nall_reduce,2,1,1000000,-1\n";
}

TEST(FitCollectives, WritesAProfileAndSaysWhatItDropped) {
  const Workplace place;
  place.write("gh200_120g_vista.csv", samples());
  const Outcome outcome = place.run("fit gh200_120g_vista.csv -o profile.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gh200_120g_vista.csv:62: more than 2.5 times as slow"));
  EXPECT_THAT(outcome.out, HasSubstr("gh200_120g_vista.csv:63: the time is missing"));
  const auto profile = nlohmann::json::parse(place.read("profile.json"));
  EXPECT_EQ(profile["name"], "gh200_120g_vista");
  const auto& reduce = profile["collectives"][0]["operations"]["all_reduce"];
  EXPECT_NEAR(reduce["network_share"].get<double>(), 40.0 / 50, 0.04);
  EXPECT_EQ(profile["collectives"][0]["rows"]["all_reduce"], 60);
}

TEST(FitCollectives, TheSameSamplesGiveTheSameBytes) {
  const Workplace place;
  place.write("gh200_120g_vista.csv", samples());
  ASSERT_EQ(place.run("fit gh200_120g_vista.csv -o one.json").code, 0);
  ASSERT_EQ(place.run("fit gh200_120g_vista.csv -o two.json").code, 0);
  EXPECT_EQ(place.read("one.json"), place.read("two.json"));
}

TEST(FitCollectives, AnswersInJson) {
  const Workplace place;
  place.write("rows.csv", samples());
  const Outcome outcome =
      place.run("fit rows.csv --profile gh200_120g_vista -o profile.json --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(answer["dropped"][0]["line"], 62);
  EXPECT_EQ(answer["profiles"][0]["cluster"], "gh200_120g_vista");
}

TEST(FitCollectives, RefusesWhatItCannotFit) {
  const Workplace place;
  place.write("rows.csv", samples());
  place.write("empty.csv", "op,nodes,gpus_per_node,elements_fp16,time_us\n");
  place.write("other.csv", "a,b\n1,2\n");
  const auto refusal = [&](const std::string& arguments) {
    const Outcome outcome = place.run("fit " + arguments + " -o profile.json");
    EXPECT_EQ(outcome.code, 2) << arguments;
    return outcome.err;
  };
  EXPECT_THAT(refusal("rows.csv"), HasSubstr("states no machine; give --profile NAME"));
  EXPECT_THAT(refusal("rows.csv --profile vista"), HasSubstr("no sampled machine 'vista'"));
  EXPECT_THAT(refusal("empty.csv --profile gh200_120g_vista"),
              HasSubstr("no row below the header"));
  EXPECT_THAT(refusal("other.csv"), HasSubstr("other.csv"));
  EXPECT_THAT(refusal("missing.csv"), HasSubstr("missing.csv"));
}

}  // namespace
}  // namespace stepwright::cli
