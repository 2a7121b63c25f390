#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/data_time.h"
#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/loss.h"
#include "stepwright/diagnose/program_words.h"

namespace stepwright::diagnose {

/// A step that takes more than so many medians of all steps is slow.
inline constexpr double kSlowStep = 1.5;

/// A step of training as a line says it; what the line does not say is negative.
struct LoggedStep {
  std::int64_t number = 0;
  std::int64_t line = 0;
  double step_time_s = -1;
  double tokens_per_s = -1;  ///< Tokens a second of one device.
};

/// Reads a line about a step; nullopt: the line is about something else. A bar that is printed over
/// itself counts with its last state.
std::optional<std::pair<TrainingProgram, LoggedStep>> read_step_line(std::string_view line);

/// The steps of one log, in the order of its lines.
struct TrainingLog {
  std::string file;
  TrainingProgram program{};
  std::vector<LoggedStep> steps;
  std::vector<LoggedLoss> losses;
  std::vector<DataTime> data;  ///< Waits of steps for their data, from lines that say them.
};

/// The steps of a log as a whole: without the first tenth of them, which warm up.
struct SteadySteps {
  std::int64_t steps = 0;     ///< All that the log has.
  std::int64_t restarts = 0;  ///< Times that the number of the step went back.
  double step_time_s = -1;    ///< The median; negative: the log says no time.
  double tokens_per_s = -1;   ///< The median, of one device; negative: the log does not say it.
  /// Share of the time that slow steps (`kSlowStep`) took beyond a usual step.
  double slow_share = 0;
  std::int64_t slow_steps = 0;

  /// "3 that take more than 1.5 medians (12 % of the time)"; empty: none does.
  [[nodiscard]] std::string slow_text() const;
};
SteadySteps steady_steps(const TrainingLog& log);

/// Finds steps that get slower as the run goes on, and slow steps at equal distances, as
/// checkpoints and evaluations make them. Empty for progress bars and logs of fewer than 20 steps.
std::vector<Finding> training_findings(const TrainingLog& log);

}  // namespace stepwright::diagnose
