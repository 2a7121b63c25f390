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

/// A step is slow if it takes more than this multiple of the median step.
inline constexpr double kSlowStep = 1.5;

/// A training step, from one log line; figures that the line does not have are negative.
struct LoggedStep {
  std::int64_t number = 0;
  std::int64_t line = 0;
  double step_time_s = -1;
  double tokens_per_s = -1;  ///< Tokens per second of one device.
};

/// Reads a line about a training step; nullopt: another line. If a progress bar was printed over
/// itself, its last state counts.
std::optional<std::pair<TrainingProgram, LoggedStep>> read_step_line(std::string_view line);

/// The training steps of one log, in the order of its lines.
struct TrainingLog {
  std::string file;
  TrainingProgram program{};
  std::vector<LoggedStep> steps;
  std::vector<LoggedLoss> losses;
  std::vector<DataTime> data;  ///< Step and data times, from lines that have both.
};

/// Summary of the steps of a log, without the first tenth of them (warm-up).
struct SteadySteps {
  std::int64_t steps = 0;     ///< Number of all steps in the log, warm-up included.
  std::int64_t restarts = 0;  ///< Number of times that the step's number went back.
  double step_time_s = -1;    ///< Median seconds of a step; negative: the log has no times.
  /// Median tokens per second of one device; negative: the log does not have them.
  double tokens_per_s = -1;
  /// Share of the total time that slow steps (`kSlowStep`) took beyond the median step.
  double slow_share = 0;
  std::int64_t slow_steps = 0;

  /// Describes the slow steps: "3 that take more than 1.5 medians (12 % of the time)"; empty: there
  /// are none.
  [[nodiscard]] std::string slow_steps_text() const;
};
SteadySteps steady_steps(const TrainingLog& log);

/// Finds steps that get slower during the run, and slow steps at constant intervals, as checkpoints
/// and evaluations cause. Empty for progress bars and for logs of fewer than 20 steps.
std::vector<Finding> training_findings(const TrainingLog& log);

}  // namespace stepwright::diagnose
