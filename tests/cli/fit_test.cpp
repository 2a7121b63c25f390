#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "golden.h"

namespace stepwright::cli {
namespace {

constexpr const char* kHeader = "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n";

/// Returns samples of residual additions of 6 bytes an element at 1,200 GB/s, after 4 us.
std::string residual_rows() {
  std::string rows;
  for (int hidden = 2048; hidden <= 8192; hidden += 1024) {
    for (int length = 1024; length <= 5120; length += 512) {
      const double us = 4 + 6.0 * 4 * length * hidden / 1.2e6;
      rows += "residual_add,,4," + std::to_string(length) + "," + std::to_string(hidden) + ",,," +
              std::to_string(us) + ",\n";
    }
  }
  return rows;
}

TEST(Fit, SaysHowWellItFitsAndWhatItDropped) {
  const Workplace place;
  place.write("a100.csv", kHeader + residual_rows() +
                              "residual_add,,4,1024,2048,,,30,\n"
                              "residual_add,,2,4096,4096,,,-3,\n"
                              "residual_add,,2,4096,4096,,,20,\n");
  const std::string fit = "fit a100.csv --device a100-sxm-80g -o profile.json";
  expect_golden("fit.txt", transcript(place, fit));
  expect_golden("fit-profile.json", place.read("profile.json"));
}

TEST(Fit, JsonIsTheProfileWithoutTreesAndTheDroppedRows) {
  const Workplace place;
  place.write("a100_sxm4_80g.csv", kHeader + residual_rows() + "residual_add,,4,1024,2048,,,1,\n");
  const Outcome outcome = place.run("fit a100_sxm4_80g.csv -o profile.json --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(answer.at("stepwright"), "profile/1");
  EXPECT_EQ(answer.at("device").at("name"), "a100-sxm-80g");
  EXPECT_EQ(answer.at("operators").size(), 1);
  EXPECT_FALSE(answer.at("operators")[0].contains("trees"));
  ASSERT_EQ(answer.at("dropped").size(), 1);
  EXPECT_EQ(answer.at("dropped")[0].at("line"), 65);
}

TEST(Fit, RefusesWhatItCannotFit) {
  const Workplace place;
  place.write("other.csv", "a,b\n1,2\n");
  place.write("a100_few.csv", std::string(kHeader) + "residual_add,,4,1024,2048,,,30,\n");
  place.write("samples.csv", kHeader + residual_rows());
  place.write("misspelt.csv", "libary,operation,nodes,payload_bytes,seconds\nring,x,1,8,1\n");
  std::string text;
  for (const char* arguments :
       {"fit", "fit a100_few.csv", "fit nowhere.csv -o p.json", "fit other.csv -o p.json",
        "fit misspelt.csv -o p.json", "fit a100_few.csv -o p.json",
        "fit a100_few.csv --device a100-sxm-80g -o p.json", "fit a100_few.csv -o a100_few.csv",
        "fit samples.csv -o p.json", "fit samples.csv --device a11 -o p.json"}) {
    text += transcript(place, arguments);
  }
  expect_golden("bad_fit.txt", text);
  EXPECT_FALSE(std::ifstream(place.path() / "p.json").good());
}

}  // namespace
}  // namespace stepwright::cli
