#include "stepwright/cli/fit_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "stepwright/cli/command.h"
#include "stepwright/cli/conditions_output.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/table.h"
#include "stepwright/cost/conditions_file.h"
#include "stepwright/fit/readable.h"
#include "stepwright/learn/calibration.h"
#include "stepwright/learn/skipped_lines.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string in_percent(double error) { return fmt::format("{:+.1f}", 100 * error); }

std::string constants_text(const learn::CostModelCalibration& calibration) {
  TextTable table{.columns = {{"constant"},
                              {"of"},
                              {"before", ColumnAlignment::kRight},
                              {"calibrated", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const learn::CalibratedConstant& constant : calibration.constants) {
    if (constant.calibrated == constant.built_in) continue;
    table.rows.push_back({std::string(constant.key), constant.of,
                          fmt::format("{:.4g}", constant.built_in),
                          fmt::format("{:.4g}", constant.calibrated)});
  }
  if (table.rows.empty()) {
    return "No choice of free constants predicts left-out runs better: the conditions stay as they "
           "are.\n";
  }
  return format_text_table(table) +
         "_rate: the share that a run keeps of what one operator alone reaches; _us, _ms: of the "
         "host; docs/formats.md,\n\"Conditions of training\", has each.\n";
}

std::string runs_text(const learn::CostModelCalibration& calibration) {
  TextTable table{.columns = {{"run"},
                              {"line", ColumnAlignment::kRight},
                              {"measured s", ColumnAlignment::kRight},
                              {"built in", ColumnAlignment::kRight},
                              {"fitted", ColumnAlignment::kRight},
                              {"left out", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const learn::CalibrationRunErrors& run : calibration.runs) {
    if (!run.outlier.empty()) continue;
    table.rows.push_back({run.id, fmt::format("{}", run.line),
                          fmt::format("{:.4g}", run.measured_s), in_percent(run.built_in_error),
                          in_percent(run.fitted_error), in_percent(run.held_out_error)});
  }
  const auto mean = [](const validate::ErrorStatistics& errors) {
    return fmt::format("{:.1f}", 100 * errors.mean_abs);
  };
  table.rows.push_back({"mean of |error|", "", "", mean(calibration.built_in),
                        mean(calibration.fitted), mean(calibration.held_out)});
  return "Error of the predicted step in %; column left out: by a fit to the other runs\n\n" +
         format_text_table(table);
}

std::string left_out_text(const learn::CostModelCalibration& calibration, const std::string& file) {
  std::string text;
  for (const learn::CalibrationRunErrors& run : calibration.runs) {
    if (run.outlier.empty()) continue;
    text += fmt::format("Outlier, {}:{}: {}: {}\n", file, run.line, run.id, run.outlier);
  }
  text += learn::skipped_rows_text(calibration.skipped, fmt::format("Skipped, {}:", file));
  return text.empty() ? text : "\n" + text;
}

Json constants_json(const learn::CostModelCalibration& calibration) {
  Json list = Json::array();
  for (const learn::CalibratedConstant& constant : calibration.constants) {
    list.push_back({{"key", constant.key},
                    {"of", constant.of},
                    {"built_in", constant.built_in},
                    {"calibrated", constant.calibrated}});
  }
  return list;
}

Json runs_json(const learn::CostModelCalibration& calibration) {
  Json list = Json::array();
  for (const learn::CalibrationRunErrors& run : calibration.runs) {
    Json entry{{"id", run.id},
               {"line", run.line},
               {"measured_s", run.measured_s},
               {"built_in_error", run.built_in_error},
               {"fitted_error", run.fitted_error},
               {"held_out_error", run.held_out_error},
               {"trust", run.trust}};
    if (!run.outlier.empty()) entry["outlier"] = run.outlier;
    list.push_back(std::move(entry));
  }
  return list;
}

Json calibration_json(const learn::CostModelCalibration& calibration) {
  Json skipped = Json::array();
  for (const learn::SkippedRunRow& run : calibration.skipped) {
    skipped.push_back({{"line", run.line}, {"reason", run.reason}});
  }
  return {{"devices", calibration.devices},
          {"frameworks", calibration.frameworks},
          {"moved", calibration.moved},
          {"constants", constants_json(calibration)},
          {"mean_abs_error",
           {{"built_in", calibration.built_in.mean_abs},
            {"fitted", calibration.fitted.mean_abs},
            {"held_out", calibration.held_out.mean_abs}}},
          {"runs", runs_json(calibration)},
          {"skipped", std::move(skipped)}};
}

}  // namespace

void fit_conditions_to_runs(const FitRunsRequest& request, const Console& console) {
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const FitStartConditions start = load_initial_fit_conditions(request.conditions);
  const learn::CostModelCalibration calibration =
      learn::calibrate_cost_constants(load_csv(request.runs), start.training, threads);
  const std::string yaml = cost::training_conditions_yaml(calibration.conditions, start.memory);
  fit::check_conditions({yaml, request.output, {request.runs}});
  const std::string text = runs_text(calibration) + left_out_text(calibration, request.runs);
  if (request.json) {
    print_json(console.out, calibration_json(calibration));
  } else {
    console.out << fmt::format("Conditions of {} under {}; free constants: {}\n\n{}\n{}",
                               fmt::join(calibration.devices, ", "),
                               fmt::join(calibration.frameworks, ", "), calibration.moved,
                               constants_text(calibration), text);
  }
  write_fitted_conditions(yaml, request.output, console);
}

}  // namespace stepwright::cli
