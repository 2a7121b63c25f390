#include "stepwright/learn/calibration.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/validate/rows/row_prediction.h"

namespace stepwright::learn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRunHeader =
    "id,cluster,gpus,model,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq_len,global_batch,"
    "micro_batch,tp,pp,job,plan,measured_metric,measured_value\n";

/// A measured run of a GPT on one DGX A100.
struct Run {
  int hidden = 2048;
  int micro_batch = 1;
  int tensor = 1;
};
const std::vector<Run> kRuns = {{2048, 1, 1}, {2048, 2, 2}, {2048, 4, 4}, {3072, 1, 2},
                                {3072, 2, 1}, {4096, 1, 4}, {4096, 2, 2}, {4096, 2, 8}};

std::string row_text(std::size_t index, const Run& run, double seconds,
                     const std::string& cluster = "dgx-a100-80g") {
  return fmt::format(
      "mine-{},{},8,GPT,8,{},16,16,{},51200,2048,32,{},{},1,\"{{framework: megatron-lm, model: "
      "{{base: gpt3-175b, head_dim: {}}}}}\",\"{{sharding: NNN, recompute: none}}\","
      "iteration_time_s,{}\n",
      index + 1, cluster, run.hidden, 4 * run.hidden, run.micro_batch, run.tensor, run.hidden / 16,
      seconds);
}

/// Returns runs as a device with another product rate would have measured them, each multiplied by
/// `noise`.
CsvTable measured(double product_rate, const std::function<double(std::size_t)>& noise) {
  cost::TrainingConditions truth = cost::built_in_training_conditions();
  for (cost::DeviceTrainingFactors& device : truth.devices) device.product_rate *= product_rate;
  std::string text = kRunHeader;
  for (std::size_t i = 0; i < kRuns.size(); ++i) {
    const CsvTable one = parse_csv(kRunHeader + row_text(i, kRuns[i], 1), "one.csv");
    const validate::PublishedRunRow row =
        std::get<validate::PublishedRunRow>(validate::read_measured_run_row(one, one.rows[0]));
    const double seconds =
        std::get<validate::TableRowPrediction>(validate::predict_row_step_time(row, truth))
            .predicted;
    text += row_text(i, kRuns[i], seconds * noise(i));
  }
  return parse_csv(text, "mine.csv");
}

double value_of(const CostModelCalibration& calibration, std::string_view key) {
  for (const CalibratedConstant& constant : calibration.constants) {
    if (constant.key == key) return constant.calibrated / constant.built_in;
  }
  return 0;
}

std::string calibration_refusal(const CsvTable& table) {
  try {
    calibrate_cost_constants(table, cost::built_in_training_conditions(), 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

TEST(CostModelCalibration, FindsTheRateOfASlowerDevice) {
  const CostModelCalibration calibration = calibrate_cost_constants(
      measured(0.8, [](auto) { return 1.0; }), cost::built_in_training_conditions(), 2);
  EXPECT_THAT(calibration.devices, testing::ElementsAre("a100-sxm-80g"));
  EXPECT_THAT(calibration.frameworks, testing::ElementsAre("megatron-lm"));
  EXPECT_EQ(calibration.moved, "all");
  EXPECT_LT(value_of(calibration, "product_rate"), 0.9) << "the prior holds it a little";
  const double narrow = value_of(calibration, "narrow_product_rate");
  EXPECT_GT(narrow, value_of(calibration, "product_rate")) << "nothing runs in fp8";
  EXPECT_LT(narrow, 1) << "what all rates have in common";
  EXPECT_GT(calibration.built_in.mean_abs, 0.1);
  EXPECT_LT(calibration.fitted.mean_abs, 0.03);
  EXPECT_LT(calibration.held_out.mean_abs, 0.04);
}

TEST(CostModelCalibration, TheConditionsHoldTheBuiltInOnesAndTheNewEntries) {
  const CostModelCalibration calibration = calibrate_cost_constants(
      measured(0.8, [](auto) { return 1.0; }), cost::built_in_training_conditions(), 1);
  const cost::DeviceTrainingFactors device =
      cost::applicable_training_conditions(calibration.conditions, "a100-sxm-80g", "A100");
  EXPECT_EQ(device.product_rate, calibration.constants[0].calibrated);
  EXPECT_EQ(cost::applicable_training_conditions(calibration.conditions, "a100-sxm-40g", "A100")
                .product_rate,
            cost::applicable_training_conditions(cost::built_in_training_conditions(),
                                                 "a100-sxm-40g", "A100")
                .product_rate);
  EXPECT_EQ(
      cost::applicable_training_conditions(calibration.conditions,
                                           plan::TrainingFramework{.name = "fsdp", .version = ""})
          .host_us,
      cost::applicable_training_conditions(cost::built_in_training_conditions(),
                                           plan::TrainingFramework{.name = "fsdp", .version = ""})
          .host_us);
}

TEST(CostModelCalibration, NamesARunThatIsOffAllOthers) {
  const auto one_is_slow = [](std::size_t i) { return i == 5 ? 3.0 : 1.0; };
  const CostModelCalibration calibration =
      calibrate_cost_constants(measured(0.8, one_is_slow), cost::built_in_training_conditions(), 1);
  for (std::size_t i = 0; i < calibration.runs.size(); ++i) {
    EXPECT_EQ(!calibration.runs[i].outlier.empty(), i == 5) << calibration.runs[i].outlier;
  }
  EXPECT_THAT(calibration.runs[5].outlier, HasSubstr("times its time"));
  EXPECT_EQ(calibration.held_out.used, kRuns.size() - 1);
  EXPECT_LT(value_of(calibration, "product_rate"), 0.9);
}

TEST(CostModelCalibration, IsNeverWorseThanTheStartOnRunsLeftOut) {
  for (const double noise : {0.02, 0.08, 0.3}) {
    for (const std::size_t period : {2U, 3U, 5U}) {
      const auto uneven = [&](std::size_t i) { return i % period == 0 ? 1 + noise : 1 - noise; };
      const CostModelCalibration calibration =
          calibrate_cost_constants(measured(1, uneven), cost::built_in_training_conditions(), 2);
      EXPECT_LE(calibration.held_out.mean_abs, calibration.built_in.mean_abs);
    }
  }
}

TEST(CostModelCalibration, WhereNothingMayMoveTheConditionsAreThoseItStartedFrom) {
  const auto noise = [](std::size_t i) { return i % 2 == 0 ? 1.3 : 0.7; };
  const CostModelCalibration calibration =
      calibrate_cost_constants(measured(1, noise), cost::built_in_training_conditions(), 1);
  ASSERT_EQ(calibration.moved, "none");
  for (const CalibratedConstant& constant : calibration.constants) {
    EXPECT_EQ(constant.calibrated, constant.built_in) << constant.key;
  }
}

TEST(CostModelCalibration, ARunThatIsTrustedLessMovesLess) {
  CsvTable table = measured(0.8, [](std::size_t i) { return i == 0 ? 1.25 : 1.0; });
  const auto miss = [&] {
    return std::abs(calibrate_cost_constants(table, cost::built_in_training_conditions(), 1)
                        .runs[0]
                        .fitted_error);
  };
  const double trusted = miss();
  table.header.emplace_back("trust");
  for (CsvRow& row : table.rows) row.cells.emplace_back("1");
  table.rows[0].cells.back() = "0.01";
  EXPECT_GT(miss(), trusted);
}

TEST(CostModelCalibration, TakesRunsOfSeveralDevicesAndFrameworks) {
  std::string text = kRunHeader;
  const CsvTable one = measured(0.8, [](auto) { return 1.0; });
  for (std::size_t i = 0; i < kRuns.size(); ++i) {
    const double seconds = std::stod(one.rows[i].cells.back());
    text += row_text(i, kRuns[i], seconds, i % 2 == 0 ? "dgx-a100-80g" : "dgx-a100-40g");
  }
  const CostModelCalibration calibration =
      calibrate_cost_constants(parse_csv(text, "two.csv"), cost::built_in_training_conditions(), 1);
  EXPECT_THAT(calibration.devices, testing::UnorderedElementsAre("a100-sxm-80g", "a100-sxm-40g"));
  EXPECT_LT(calibration.held_out.mean_abs, calibration.built_in.mean_abs);
}

TEST(CostModelCalibration, DoesNotDependOnTheNumberOfThreads) {
  const CsvTable table = measured(0.9, [](auto i) { return i == 2 ? 1.1 : 1.0; });
  EXPECT_EQ(
      cost::training_conditions_yaml(
          calibrate_cost_constants(table, cost::built_in_training_conditions(), 1).conditions),
      cost::training_conditions_yaml(
          calibrate_cost_constants(table, cost::built_in_training_conditions(), 4).conditions));
}

TEST(CostModelCalibration, ReportsBadRowsByLine) {
  CsvTable table = measured(0.8, [](auto) { return 1.0; });
  table.rows[1].cells.back() = "fast";
  const CostModelCalibration calibration =
      calibrate_cost_constants(table, cost::built_in_training_conditions(), 1);
  ASSERT_THAT(calibration.skipped, SizeIs(1));
  EXPECT_EQ(calibration.skipped[0].line, 3U);
  EXPECT_THAT(calibration.skipped[0].reason, HasSubstr("measured_value"));
  EXPECT_THAT(calibration.runs, SizeIs(kRuns.size() - 1));
}

TEST(CostModelCalibration, RefusesWhatCannotBeCalibrated) {
  const auto table = [](const std::string& rows) { return parse_csv(kRunHeader + rows, "t.csv"); };
  EXPECT_THAT(calibration_refusal(table(row_text(1, kRuns[1], -1))),
              testing::AllOf(HasSubstr("no run can be predicted"), HasSubstr("t.csv:2:")));
  EXPECT_THAT(calibration_refusal(parse_csv("collective,size_bytes,time_us\n", "c.csv")),
              HasSubstr("not a table of training runs"));
}

}  // namespace
}  // namespace stepwright::learn
