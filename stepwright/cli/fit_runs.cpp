#include "stepwright/cli/fit_runs.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "stepwright/cli/command.h"
#include "stepwright/cli/output.h"
#include "stepwright/core/error.h"
#include "stepwright/core/table.h"
#include "stepwright/validate/calibration.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

std::string in_percent(double error) { return fmt::format("{:+.1f}", 100 * error); }

std::string constants_text(const Calibration& calibration) {
  Table table{.columns = {{"constant"}, {"built in", Align::kRight}, {"calibrated", Align::kRight}},
              .rows = {}};
  for (const CalibratedConstant& constant : calibration.constants) {
    table.rows.push_back({std::string(constant.key), fmt::format("{:.4g}", constant.built_in),
                          fmt::format("{:.4g}", constant.calibrated)});
  }
  return to_text(table);
}

std::string runs_text(const Calibration& calibration) {
  Table table{.columns = {{"run"},
                          {"line", Align::kRight},
                          {"measured s", Align::kRight},
                          {"built in", Align::kRight},
                          {"fitted", Align::kRight},
                          {"left out", Align::kRight}},
              .rows = {}};
  for (const CalibrationRun& run : calibration.runs) {
    if (!run.outlier.empty()) continue;
    table.rows.push_back({run.id, fmt::format("{}", run.line),
                          fmt::format("{:.4g}", run.measured_s), in_percent(run.built_in_error),
                          in_percent(run.fitted_error), in_percent(run.held_out_error)});
  }
  const auto mean = [](const ErrorStatistics& errors) {
    return fmt::format("{:.1f}", 100 * errors.mean_abs);
  };
  table.rows.push_back({"mean of |error|", "", "", mean(calibration.built_in),
                        mean(calibration.fitted), mean(calibration.held_out)});
  return "Error of the predicted step in %; left out: by a fit to the other runs\n\n" +
         to_text(table);
}

std::string left_out_text(const Calibration& calibration, const std::string& file) {
  std::string text;
  for (const CalibrationRun& run : calibration.runs) {
    if (run.outlier.empty()) continue;
    text += fmt::format("Outlier, {}:{}: {}: {}\n", file, run.line, run.id, run.outlier);
  }
  for (const SkippedRun& skipped : calibration.skipped) {
    text += fmt::format("Skipped, {}:{}: {}\n", file, skipped.line, skipped.reason);
  }
  return text.empty() ? text : "\n" + text;
}

Json constants_json(const Calibration& calibration) {
  Json list = Json::array();
  for (const CalibratedConstant& constant : calibration.constants) {
    list.push_back({{"key", constant.key},
                    {"built_in", constant.built_in},
                    {"calibrated", constant.calibrated}});
  }
  return list;
}

Json runs_json(const Calibration& calibration) {
  Json list = Json::array();
  for (const CalibrationRun& run : calibration.runs) {
    Json entry{{"id", run.id},
               {"line", run.line},
               {"measured_s", run.measured_s},
               {"built_in_error", run.built_in_error},
               {"fitted_error", run.fitted_error},
               {"held_out_error", run.held_out_error}};
    if (!run.outlier.empty()) entry["outlier"] = run.outlier;
    list.push_back(std::move(entry));
  }
  return list;
}

Json calibration_json(const Calibration& calibration) {
  Json skipped = Json::array();
  for (const SkippedRun& run : calibration.skipped) {
    skipped.push_back({{"line", run.line}, {"reason", run.reason}});
  }
  return {{"device", calibration.device},
          {"framework", calibration.framework},
          {"constants", constants_json(calibration)},
          {"mean_abs_error",
           {{"built_in", calibration.built_in.mean_abs},
            {"fitted", calibration.fitted.mean_abs},
            {"held_out", calibration.held_out.mean_abs}}},
          {"runs", runs_json(calibration)},
          {"skipped", std::move(skipped)}};
}

}  // namespace

void fit_runs(const FitRunsRequest& request, const Console& console) {
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const Calibration calibration = calibrate(load_csv(request.runs), threads);
  const std::string text = runs_text(calibration) + left_out_text(calibration, request.runs);
  if (!calibration.useful()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: a calibration would be worse than the built-in conditions on runs "
                            "that it did not see ({:.1f} % instead of {:.1f} %), so there is none; "
                            "more runs, or runs that differ more, may help\n\n{}",
                            request.runs, 100 * calibration.held_out.mean_abs,
                            100 * calibration.built_in.mean_abs, text));
  }
  if (request.json) {
    print_json(console.out, calibration_json(calibration));
  } else {
    console.out << fmt::format("Conditions of {} under {}\n\n{}\n{}", calibration.device,
                               calibration.framework, constants_text(calibration), text);
  }
  if (request.output.empty()) return;
  const std::string yaml = conditions_yaml(calibration.conditions);
  write_file(request.output, [&](std::ostream& out) { out << yaml; });
  console.log.info("wrote the conditions to {}; a job names them as `conditions: {}`",
                   request.output, request.output);
}

}  // namespace stepwright
