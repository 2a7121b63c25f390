#include "stepwright/runtime/measure/step_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace stepwright::runtime {
namespace {

/// Seconds below which a ratio is meaningless.
constexpr double kShortest = 1e-6;

std::string line(std::string_view name, const StepTimeSummary::PredictedMeasuredTimes& times) {
  const std::string ratio = times.predicted_s > kShortest
                                ? fmt::format("{:>8.2f}", times.measured_s / times.predicted_s)
                                : "";
  return fmt::format("  {:<24}{:>12.6f}{:>12.6f}{}\n", name, times.predicted_s, times.measured_s,
                     ratio);
}

}  // namespace

StepTimeSummary::Key step_time_summary_key(const step::Operator& op) {
  const bool message = step::is_communication(op.kind);
  return {message, std::string(message ? name_of(step::kSchemeNames, op.scheme)
                                       : name_of(step::kOperatorNames, op.kind))};
}

std::string step_time_summary_text(const StepTimeSummary& summary) {
  std::string text = fmt::format("  {:<24}{:>12}{:>12}{:>8}\n", "seconds of a step", "predicted",
                                 "measured", "ratio");
  for (const auto& [key, times] : summary.times) {
    text += line(key.first ? key.second + " messages" : key.second, times);
  }
  return text + line("between operators", {0, summary.between_s});
}

nlohmann::ordered_json step_time_summary_json(const StepTimeSummary& summary) {
  auto computations = nlohmann::ordered_json::object();
  auto messages = nlohmann::ordered_json::object();
  for (const auto& [key, times] : summary.times) {
    (key.first ? messages : computations)[key.second] = {{"predicted_s", times.predicted_s},
                                                         {"measured_s", times.measured_s}};
  }
  return {{"stepwright", "summary/1"},
          {"step_s", summary.step_s},
          {"between_s", summary.between_s},
          {"computations", std::move(computations)},
          {"messages", std::move(messages)}};
}

}  // namespace stepwright::runtime
