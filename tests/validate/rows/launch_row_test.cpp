#include "stepwright/validate/rows/launch_row.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/csv.h"
#include "stepwright/validate/validation.h"

namespace stepwright::validate {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLaunchHeader = "id,target,cluster,launch,allocated_gib,peak_gib\n";
constexpr const char* kLaunch =
    "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 4 --hidden-size 512 "
    "--num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024 --vocab-size 50257 "
    "--micro-batch-size 4 --global-batch-size 32 --bf16";

CsvTable launches(const std::string& launch, const std::string& measured) {
  return parse_csv(
      kLaunchHeader + ("a-1,megatron,dgx-a100-80g:1," + launch + "," + measured + "\n"),
      "launches.csv");
}

TEST(LaunchRow, ComparesWhatTheAllocatorCountsAfterAStepAndAtMost) {
  const auto outcomes = predict_launch_memory(launches(kLaunch, "1,2.5"), 1);
  ASSERT_EQ(outcomes.size(), 1U);
  ASSERT_EQ(outcomes[0].results.size(), 2U);
  EXPECT_EQ(outcomes[0].results[0].groups,
            (std::vector<std::string>{"after a step", "a100-sxm-80g", "dense", "data"}));
  EXPECT_EQ(outcomes[0].results[1].groups[0], "peak");
  EXPECT_LT(outcomes[0].results[0].predicted, outcomes[0].results[1].predicted);
  EXPECT_EQ(outcomes[0].results[1].measured, 2.5 * 1024 * 1024 * 1024);
}

TEST(LaunchRow, IsSkippedWithTheReaderSReasonOrTheColumn) {
  const auto unread =
      predict_launch_memory(launches("torchrun pretrain_gpt.py --num-layers x", "1,2"), 1);
  EXPECT_EQ(unread[0].skipped.value().reason, "the command is not read");
  const auto bad = predict_launch_memory(launches(kLaunch, "much,2"), 1);
  EXPECT_THAT(bad[0].skipped.value().reason, HasSubstr("allocated_gib"));
  const auto nothing = predict_launch_memory(launches(kLaunch, ","), 1);
  EXPECT_EQ(nothing[0].skipped.value().reason, "nothing measured");
}

/// Returns the share of a quantity's results whose error is below a bound.
double share_within(const Validation& validation, std::string_view quantity, double bound) {
  double all = 0;
  double within = 0;
  for (const TableRowPrediction& result : validation.results) {
    if (result.groups[0] != quantity) continue;
    ++all;
    if (std::abs(result.error) < bound) ++within;
  }
  return within / all;
}

TEST(LaunchRow, OfMegatronsOwnTestsAreAsCloseAsStated) {
  const CsvTable table = load_csv("data/launches_megatron_ci.csv");
  const Validation validation = compare_predictions_to_measurements(table, {.threads = 2});
  EXPECT_GE(validation.used, 200U);
  EXPECT_LT(validation.groups[0].at("after a step").median_abs, 0.006);
  EXPECT_LT(validation.groups[0].at("peak").median_abs, 0.011);
  EXPECT_GE(share_within(validation, "after a step", 0.05), 0.97);
  EXPECT_GE(share_within(validation, "peak", 0.05), 0.93);
}

TEST(LaunchRow, TakesAConfigurationASizeAndAStage) {
  const std::string header = "id,target,cluster,model,stage,launch,allocated_gib,peak_gib\n";
  const std::string launch =
      "\"[model]\nname = \"\"llama3\"\"\nflavor = \"\"8B\"\"\n[training]\nlocal_batch_size = 8\n"
      "seq_len = 1024\n[parallelism]\npipeline_parallel_degree = 2\n\"";
  const std::string model =
      "\"{layers: 8, hidden: 512, heads: 8, ffn: 2048, vocab: 128256, positions: 1024}\"";
  const auto predicted = [&](const std::string& stage) {
    const std::string row =
        "a-1,torchtitan,dgx-h100:1," + model + "," + stage + "," + launch + ",1,1";
    return predict_launch_memory(parse_csv(header + row + "\n", "launches.csv"), 1)[0]
        .results.at(1)
        .predicted;
  };
  EXPECT_LT(predicted("first"), predicted("last"));  // which has the logits
}

TEST(LaunchRow, OfTorchtitanItselfAreAsCloseAsStated) {
  const CsvTable table = load_csv("data/torchtitan_fake_h100.csv");
  const Validation validation = compare_predictions_to_measurements(table, {.threads = 2});
  EXPECT_EQ(validation.used, 38U);
  EXPECT_LT(validation.groups[0].at("after a step").median_abs, 0.003);
  EXPECT_LT(validation.groups[0].at("peak").median_abs, 0.003);
  EXPECT_EQ(share_within(validation, "after a step", 0.03), 1);
  EXPECT_GE(share_within(validation, "peak", 0.03), 0.94);
  EXPECT_EQ(share_within(validation, "peak", 0.09), 1);
}

}  // namespace
}  // namespace stepwright::validate
