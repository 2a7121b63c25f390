#include "stepwright/fit/operators/hold_out.h"

#include <gtest/gtest.h>

#include <deque>

#include "stepwright/fit/collectives/left_out.h"

namespace stepwright::fit {
namespace {

constexpr std::int64_t kJudged = 4096;

/// Samples of residual additions with seven hidden sizes, 6 bytes an element at 1,200 GB/s; one
/// hidden size takes `factor` times as long.
struct Additions {
  std::deque<OperatorSample> samples;
  std::vector<OperatorFitRow> rows;
  FitSetting setting{
      cost::OperatorClass::kResidual, cost::OperatorPass::kForward, {312e12, 2039e9}};

  explicit Additions(double factor) {
    for (std::int64_t hidden = 2048; hidden <= 8192; hidden += 1024) {
      for (std::int64_t length = 1024; length <= 4096; length += 512) add(hidden, length, factor);
    }
  }
  void add(std::int64_t hidden, std::int64_t length, double factor) {
    const SampledOperator sampled =
        sampled_operator({.op = "residual_add", .batch = 4, .length = length, .hidden = hidden})
            .value();
    samples.push_back({.name = "residual_add",
                       .what = sampled.what,
                       .op = sampled.op,
                       .hold_out = sampled.hold_out});
    const double elements = 4.0 * static_cast<double>(length * hidden);
    OperatorFitRow row{.sample = &samples.back(), .seconds = 4e-6 + 6 * elements / 1.2e12};
    if (hidden == kJudged) row.seconds *= factor;
    row.work = cost::operator_pass_work_for_law(setting.what, setting.pass, sampled.op, 108);
    row.inputs = cost::features(setting.what, setting.pass, sampled.op, 108);
    rows.push_back(row);
  }
};

TEST(HoldOut, ASizeIsPredictedWithoutItsOwnRows) {
  const Additions plain(1), slow(3);
  const HeldOutPredictions of_plain = predict_rows_by_cross_validation(plain.rows, plain.setting);
  const HeldOutPredictions of_slow = predict_rows_by_cross_validation(slow.rows, slow.setting);
  bool others_moved = false;
  for (std::size_t i = 0; i < plain.rows.size(); ++i) {
    if (plain.rows[i].sample->hold_out == kJudged) {
      EXPECT_EQ(of_plain.law[i], of_slow.law[i]);
      EXPECT_EQ(of_plain.trees[i], of_slow.trees[i]);
      EXPECT_EQ(of_plain.law_times_trees[i], of_slow.law_times_trees[i]);
    } else {
      others_moved = others_moved || of_plain.trees[i] != of_slow.trees[i];
    }
  }
  EXPECT_TRUE(others_moved) << "the changed rows are fitted on when others are judged";
}

/// Returns a study of all-reduces on two, four and eight nodes; those on four have `factor` times
/// the rate of the others.
MachineStudy study(double factor) {
  std::string text = "op,nodes,gpus_per_node,elements_fp16,time_us\n";
  for (const int nodes : {2, 4, 8}) {
    for (int i = 1; i <= 24; ++i) {
      const double elements = 2.5e7 * i;
      const double us = 50 + 4 * elements * (nodes - 1) / nodes / 4e4 * (1 + 0.01 * (i % 3));
      text += "all_reduce," + std::to_string(nodes) + ",1," +
              std::to_string(static_cast<int>(elements)) + "," +
              std::to_string(nodes == 4 ? us * factor : us) + "\n";
    }
  }
  const CollectiveSampleTable read =
      read_collective_samples(parse_csv(text, "links.csv"), "gh200_120g_vista");
  EXPECT_TRUE(read.dropped.empty());
  std::vector<DroppedSampleRow> dropped;
  return cross_validate_machine(collective_samples_by_machine(read.samples, dropped).at(0),
                                nullptr);
}

TEST(HoldOut, ALayoutIsPredictedWithoutItsOwnRows) {
  const auto error = [](const MachineStudy& study, const std::string& layout) {
    for (const LeftOutLayoutErrors& left : study.layouts) {
      if (left.layout == layout) return left.errors.all.signed_median;
    }
    return -1.0;
  };
  const MachineStudy plain = study(1), slow = study(2);
  // Twice the measured time and the same prediction.
  EXPECT_NEAR(error(slow, "4x1"), (1 + error(plain, "4x1")) / 2 - 1, 1e-9);
  EXPECT_NE(error(slow, "8x1"), error(plain, "8x1"));
}

}  // namespace
}  // namespace stepwright::fit
