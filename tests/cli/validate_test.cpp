#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace stepwright::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOperators =
    "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n"
    "linear_qkv,1,4,2048,4096,32,,3500,7000\n"
    "gelu,1,4,4096,4096,,,900,\n"
    "gelu,1,4,4096,4096,,,nan,\n";
constexpr const char* kCollectives =
    "op,nodes,gpus_per_node,elements_fp16,time_us\n"
    "all_reduce,4,1,500000000,1280000\n";

TEST(Validate, OneNameGoesWithOperatorsAndCollectives) {
  const Workplace place;
  place.write("operators.csv", kOperators);
  place.write("links.csv", kCollectives);
  for (const auto& [file, group] :
       {std::pair("operators.csv", "by_operator"), std::pair("links.csv", "by_layout")}) {
    const Outcome outcome =
        place.run("validate " + std::string(file) + " --profile a100_sxm4_80g_perlmutter --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto answer = nlohmann::json::parse(outcome.out);
    for (const char* key : {"median_abs_error", "mean_abs_error", "p90_abs_error",
                            "mean_signed_error", "within_10_percent"}) {
      EXPECT_TRUE(answer.at(key).is_number()) << key;
    }
    std::size_t skipped = 0;
    for (const auto& count : answer.at("skipped")) skipped += count.get<std::size_t>();
    EXPECT_EQ(answer.at("used").get<std::size_t>() + skipped, answer.at("rows"));
    EXPECT_TRUE(answer.at("by_source").begin()->contains("mean_abs_error"));
    EXPECT_TRUE(answer.at(group).begin()->contains("used"));
    for (const auto& result : answer.at("results")) {
      EXPECT_NEAR(result.at("predicted").get<double>() / result.at("measured").get<double>() - 1,
                  result.at("error").get<double>(), 1e-9);
      EXPECT_TRUE(result.at("id").is_string() && result.at("notes").is_array());
    }
  }
}

TEST(Validate, ShowsTablesAndTheWorstRows) {
  const Workplace place;
  place.write("operators.csv", kOperators);
  const Outcome outcome = place.run("validate operators.csv --profile a100-sxm-80g");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part : {"operators: 2 of 3 rows are used", "fwd_us is `nan`", "linear_qkv",
                           "errors of 2 operators is", "worst"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Validate, SaysWhyNoRowCanBeUsed) {
  const Workplace place;
  place.write("operators.csv",
              "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n"
              "gelu,1,4,4096,4096,,,nan,\n");
  const Outcome outcome = place.run("validate operators.csv --profile a100-sxm-80g --json");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("operators.csv: none of its 1 rows can be used"));
  EXPECT_THAT(outcome.err, HasSubstr("fwd_us is `nan`"));
}

TEST(Validate, RefusesRowsWithoutAMachine) {
  const Workplace place;
  place.write("links.csv", kCollectives);
  const Outcome none = place.run("validate links.csv");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("links.csv: the rows name no machine; add --profile"));
  const Outcome unknown = place.run("validate links.csv --profile gh200_120g_vist");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'gh200_120g_vista'"));
}

}  // namespace
}  // namespace stepwright::cli
