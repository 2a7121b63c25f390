#include "stepwright/validate/rows/sample_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stepwright/validate/validation.h"
#include "tests/core/refusal.h"
#include "tests/folder.h"

namespace stepwright::validate {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;

constexpr const char* kPerlmutter = "a100_sxm4_80g_perlmutter";
constexpr const char* kVista = "gh200_120g_vista";

Validation operators(const std::string& rows, const std::string& profile = kPerlmutter) {
  return compare_predictions_to_measurements(
      parse_csv("op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n" + rows, "operators.csv"),
      {.profile = profile});
}

Validation collectives(const std::string& rows, const std::string& profile = kPerlmutter) {
  return compare_predictions_to_measurements(
      parse_csv("op,nodes,gpus_per_node,elements_fp16,time_us\n" + rows, "links.csv"),
      {.profile = profile});
}

TEST(OperatorRows, EachDirectionIsAResultAndARowCountsOnce) {
  const Validation v = operators("linear_qkv,1,4,2048,4096,32,,3500,7000\n");
  EXPECT_EQ(v.kind, MeasurementTableKind::kOperatorSamples);
  EXPECT_EQ(v.rows, 1U);
  EXPECT_EQ(v.used, 1U);
  EXPECT_EQ(v.errors.used, 1U);
  ASSERT_EQ(v.results.size(), 2U);
  EXPECT_EQ(v.results[0].id, "2");
  EXPECT_EQ(v.results[0].groups,
            (std::vector<std::string>{"operators", "a100-sxm-80g", "linear_qkv", "forward",
                                      "from 1000 us"}));
  EXPECT_EQ(v.results[1].groups[3], "backward");
  EXPECT_DOUBLE_EQ(v.results[0].measured, 3.5e-3);
  // 8,192 x 4,096 x 12,288 products at 312 TFLOP/s take 2.64 ms.
  EXPECT_GT(v.results[0].predicted, 2.64e-3);
  EXPECT_LT(v.results[0].predicted, 4e-3);
  EXPECT_THAT(v.results[0].notes, IsEmpty());
  const std::size_t by_operator = 2;
  EXPECT_EQ(v.groups[by_operator].at("linear_qkv").used, 1U) << "directions are pooled";
  EXPECT_DOUBLE_EQ(v.groups[by_operator].at("linear_qkv").mean_abs, v.errors.mean_abs);
}

TEST(OperatorRows, WhatIsNoMeasurementIsSkippedWithAReason) {
  const Validation v = operators(
      "residual_add,,4,4096,4096,,,nan,\n"
      "residual_add,,4,4096,4096,,,-3,\n"
      "residual_add,,4,4096,4096,,,400,\n"
      "residual_add,,4,4096,4096,,,400,\n"
      "residual_add,,4,2048,4096,,,1,\n"
      "residual_add,,4,3072,4096,,,300000,\n"
      "no_such_op,,4,4096,4096,,,10,\n"
      "gelu,1,4,4096,4096,,,900,5\n");
  EXPECT_EQ(v.used, 2U);
  EXPECT_EQ(v.skipped.at("bad value").count, 3U);
  EXPECT_THAT(v.skipped.at("bad value").first, HasSubstr("line 2: fwd_us is `nan`"));
  EXPECT_EQ(v.skipped.at("duplicate").count, 1U);
  EXPECT_EQ(v.skipped.at("above peak").count, 1U);
  EXPECT_EQ(v.skipped.at("other units").count, 1U);
  std::size_t skipped = 0;
  for (const auto& [reason, rows] : v.skipped) skipped += rows.count;
  EXPECT_EQ(v.used + skipped, v.rows);
  EXPECT_EQ(v.left_out.size(), 1U) << "the backward of gelu, whose forward is used";
}

TEST(OperatorRows, OutsideOfTheFittedRangeIsNoted) {
  const Validation v = operators("linear_qkv,1,1,65536,32768,128,,1e7,\n");
  ASSERT_EQ(v.results.size(), 1U);
  ASSERT_EQ(v.results[0].notes.size(), 1U);
  EXPECT_THAT(v.results[0].notes[0], HasSubstr("outside of the measured sizes: "));
}

TEST(OperatorRows, AnotherDeviceIsNoted) {
  const Validation v = operators("layernorm,,4,4096,4096,,,200,\n", "dgx-h100");
  ASSERT_EQ(v.results.size(), 1U);
  EXPECT_EQ(v.results[0].groups[1], "h100-sxm-80g");
  EXPECT_THAT(v.results[0].notes.at(0), HasSubstr("scaled from"));
}

TEST(OperatorRows, OrderAndOtherColumnsChangeNothing) {
  const Validation v = operators("rope,1,4,2048,4096,32,,500,\ngelu,1,4,4096,4096,,,900,\n");
  const Validation other = compare_predictions_to_measurements(
      parse_csv("extra,bwd_us,fwd_us,layers,heads,hidden,seq,batch,tp,op\n"
                "x,,900,,,4096,4096,4,1,gelu\ny,,500,,32,4096,2048,4,1,rope\n",
                "operators.csv"),
      {.profile = kPerlmutter});
  ASSERT_EQ(other.results.size(), 2U);
  EXPECT_EQ(v.results[0].predicted, other.results[1].predicted);
  EXPECT_EQ(v.results[1].predicted, other.results[0].predicted);
}

TEST(OperatorRows, AColumnNamesTheMachineOfARow) {
  const std::string row = "gelu,1,4,4096,4096,,,900,";
  const Validation v = compare_predictions_to_measurements(
      parse_csv("op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us,cluster\n" + row + "," + kVista +
                    "\n" + row + ",gh200-96g\n" + row + ",perlmutter-a100-80g\n" + row +
                    ",deep-thought\n" + row + ",\n",
                "operators.csv"),
      {});
  ASSERT_EQ(v.results.size(), 3U);
  EXPECT_EQ(v.results[0].groups[1], "gh200-96g");
  EXPECT_EQ(v.results[0].predicted, v.results[1].predicted);
  EXPECT_EQ(v.results[2].groups[1], "a100-sxm-80g");
  EXPECT_THAT(v.skipped, Contains(Key("no machine: deep-thought")));
  EXPECT_THAT(v.skipped, Contains(Key("no machine: `cluster` is empty")));
}

TEST(OperatorRows, AProfileFileCountsBeforeTheBuiltInOnes) {
  const Folder folder;
  const auto path = folder / "half-as-fast.json";
  nlohmann::ordered_json profile;
  std::ifstream("profiles/a100_sxm4_80g_perlmutter.json") >> profile;
  nlohmann::ordered_json kept = nlohmann::ordered_json::array();
  for (auto entry : profile["operators"]) {
    if (entry["class"] != "activation") continue;
    entry["chosen"] = "law";
    entry.erase("trees");
    entry["law"]["memory_share"] = 0.25;
    kept.push_back(entry);
  }
  ASSERT_FALSE(kept.empty());
  profile["operators"] = kept;
  std::ofstream(path) << profile;
  const std::string row = "gelu,1,4,4096,4096,,,900,\n";
  EXPECT_GT(operators(row, path.string()).results.at(0).predicted,
            2 * operators(row).results.at(0).predicted);
}

TEST(OperatorRows, WithoutAMachineTheRefusalSaysWhatToAdd) {
  const std::string none = refusal([] { operators("gelu,1,4,4096,4096,,,900,\n", ""); });
  EXPECT_THAT(none, HasSubstr("operators.csv: the rows name no machine; add --profile"));
  const std::string unknown =
      refusal([] { operators("gelu,1,4,4096,4096,,,900,\n", "gh200_120g_vist"); });
  EXPECT_THAT(unknown, HasSubstr("did you mean 'gh200_120g_vista'"));
}

TEST(OperatorRows, KernelsTellTheirDevice) {
  const Validation v = compare_predictions_to_measurements(
      parse_csv("id,gpu,op,dtype,m,n,k,batch,seq_len,heads,kv_heads,head_dim,causal,direction,"
                "metric,value\n"
                "k-1,H100-SXM-80GB,gemm,bf16,8192,8192,8192,1,,,,,,,time_us,1700\n"
                "k-2,H100-SXM-80GB,gemm,fp8,8192,8192,8192,1,,,,,,,time_us,900\n"
                "k-3,TPU,gemm,bf16,8192,8192,8192,1,,,,,,,time_us,900\n",
                "kernels.csv"),
      {});
  ASSERT_EQ(v.results.size(), 1U);
  EXPECT_EQ(v.results[0].id, "k-1");
  EXPECT_EQ(v.results[0].groups[0], "k");
  EXPECT_NEAR(v.results[0].error, 0, 0.25);
  EXPECT_EQ(v.skipped.size(), 2U);
}

TEST(CollectiveRows, ArePricedOnTheirMachine) {
  const Validation v = collectives("all_reduce,4,1,500000000,1280000\n");
  ASSERT_EQ(v.results.size(), 1U);
  EXPECT_EQ(v.results[0].groups,
            (std::vector<std::string>{"links", kPerlmutter, "all_reduce", "4x1", "from 1e9 B"}));
  EXPECT_NEAR(v.results[0].error, 0, 0.1);
}

TEST(CollectiveRows, WhatIsNoMeasurementIsSkippedWithAReason) {
  const Validation v = collectives(
      "all_reduce,4,1,500000000,1280000\n"
      "all_reduce,4,1,500000000,1280000\n"
      "all_reduce,4,1,500000000,nan\n"
      "all_reduce,4,1,-5,1280000\n"
      "all_reduce,4,1,500000000,1\n"
      "all_reduce,4,0.5,500000000,1280000\n"
      "all_sum,4,1,500000000,1280000\n");
  EXPECT_EQ(v.used, 1U);
  std::size_t skipped = 0;
  for (const auto& [reason, rows] : v.skipped) skipped += rows.count;
  EXPECT_EQ(skipped, 6U);
  EXPECT_THAT(v.skipped, Contains(Key("faster than the line rate by #")));
}

TEST(CollectiveRows, OutsideOfTheFittedRangeIsNoted) {
  const Validation v = collectives(
      "all_reduce,16,1,500000000,1500000\n"
      "all_reduce,4,1,500000000,1280000\n"
      "reduce_scatter,4,1,500000000,640000\n");
  ASSERT_EQ(v.results.size(), 3U);
  EXPECT_THAT(v.results[0].notes.at(0),
              HasSubstr("outside of the measured sizes: ranks 16, measured 2 to 8"));
  EXPECT_THAT(v.results[1].notes, IsEmpty());
  EXPECT_THAT(v.results[2].notes.at(0), HasSubstr("no reduce_scatter was fitted"));
}

TEST(CollectiveRows, AMachineThatNobodySampledIsNoted) {
  const Validation v = collectives("all_reduce,2,8,500000000,12800\n", "perlmutter-a100-80g");
  EXPECT_EQ(v.used, 0U) << "it has four devices a node";
  const Validation other = collectives("all_reduce,2,4,500000000,128000\n", "perlmutter-a100-80g");
  ASSERT_EQ(other.results.size(), 1U);
  EXPECT_THAT(other.results[0].notes.at(0), HasSubstr("by the fit of a100-sxm-80g"));
}

TEST(CollectiveRows, AColumnNamesTheMachineAndAStrideTheLayout) {
  const Validation v = compare_predictions_to_measurements(
      parse_csv(std::string("op,nodes,gpus_per_node,elements_fp16,time_us,cluster,stride\n") +
                    "all_reduce,4,1,500000000,1280000," + kPerlmutter + ",4\n" +
                    "all_reduce,4,1,500000000,40000," + kVista + ",\n",
                "links.csv"),
      {});
  ASSERT_EQ(v.results.size(), 2U);
  EXPECT_EQ(v.results[0].groups[3], "4x1 stride 4");
  EXPECT_EQ(v.results[1].groups[1], kVista);
}

TEST(CollectiveRows, AFileIsAMachineToo) {
  const Folder folder;
  std::ofstream(folder / "two.yaml")
      << "stepwright: cluster/1\nname: two\ndevice: gh200-96g\ndevices_per_node: 1\n"
         "nics_per_node: 1\nnic: 50e9\nlevels: []\nsource: none\n";
  nlohmann::ordered_json profile;
  std::ifstream("profiles/collectives/gh200_120g_vista.json") >> profile;
  for (auto& operation : profile["collectives"][0]["operations"]) operation["network_share"] = 0.1;
  std::ofstream(folder / "slow.json") << profile;
  const std::string row = "all_reduce,4,1,500000000,80000\n";
  const Validation cluster = collectives(row, (folder / "two.yaml").string());
  EXPECT_EQ(cluster.results.at(0).groups[1], "two");
  const Validation slow = collectives(row, (folder / "slow.json").string());
  EXPECT_GT(slow.results.at(0).predicted, 2 * collectives(row, kVista).results.at(0).predicted);
}

TEST(CollectiveRows, WithoutAMachineTheRefusalSaysWhatToAdd) {
  const std::string none = refusal([] { collectives("all_reduce,4,1,5000000,128000\n", ""); });
  EXPECT_THAT(none, HasSubstr("links.csv: the rows name no machine; add --profile"));
}

/// Tests with a profile of Gloo's all-gather: 1 ms, and 10 ns per byte that leaves a node.
class OwnMessages : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << R"({"stepwright": "measured/1", "name": "lab", "messages": [
        {"library": "gloo", "operation": "all_gather", "start_us": 1000,
         "network_bytes_per_s": 1e8}]})";
  }

  [[nodiscard]] Validation judge(const std::string& rows) const {
    return compare_predictions_to_measurements(
        parse_csv("library,operation,nodes,ranks_of_node,groups_of_node,"
                  "payload_bytes,chunk_bytes,seconds\n" +
                      rows,
                  "messages.csv"),
        {.profile = path_.string()});
  }

  Folder folder_;
  std::filesystem::path path_ = folder_ / "own_messages.json";
};

TEST_F(OwnMessages, ArePredictedByTheirLibrary) {
  // One step of a ring of two: half of the buffer, one way.
  const Validation v =
      judge("gloo,all_gather,2,1,1,2e8,0,2.002\nho-ring,all_gather,2,2,1,1e6,4096,1\n");
  EXPECT_EQ(v.kind, MeasurementTableKind::kOwnMessages);
  EXPECT_EQ(v.used, 1U);
  ASSERT_EQ(v.results.size(), 1U);
  EXPECT_NEAR(v.results[0].predicted, 1.001, 1e-9);
  EXPECT_NEAR(v.results[0].error, -0.5, 1e-9);
  EXPECT_EQ(v.results[0].groups,
            (std::vector<std::string>{"gloo", "all_gather", "2x1 beside 0", "from 1e8 B"}));
  EXPECT_THAT(v.skipped, Contains(Key(HasSubstr("no such message"))));
}

TEST_F(OwnMessages, NeedAProfileAndSayWhereTheyAreBad) {
  EXPECT_THAT(refusal([&] { static_cast<void>(judge("gloo,all_gather,2,1,1,-5,0,2\n")); }),
              HasSubstr("payload_bytes"));
  EXPECT_THAT(refusal([&] {
                compare_predictions_to_measurements(
                    parse_csv("library,operation,nodes,ranks_of_node,groups_of_node,"
                              "payload_bytes,chunk_bytes,seconds\n",
                              "messages.csv"),
                    {});
              }),
              HasSubstr("--profile MEASURED"));
}

}  // namespace
}  // namespace stepwright::validate
