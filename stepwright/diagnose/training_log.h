#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/data_load_time.h"
#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/log_line_words.h"
#include "stepwright/diagnose/loss.h"

namespace stepwright::diagnose {

/// A training step counts as slow if it takes more than this multiple of the median step.
inline constexpr double kSlowStepFactor = 1.5;

/// One training step, from a log line. Figures that the line does not have are negative.
struct LoggedStep {
  std::int64_t number = 0;
  std::int64_t line = 0;
  double step_time_s = -1;
  /// Tokens per second of one device, as the line states; negative: not stated.
  double tokens_per_s = -1;
};

/// Reads a training step, and the program that printed it, from a log line; nullopt: another line.
/// If a progress bar was printed over itself, its last state counts.
std::optional<std::pair<LoggedTrainingProgram, LoggedStep>> read_step_line(std::string_view line);

/// Training steps and losses that one log reports, in the order of its lines.
struct TrainingLog {
  std::string file;
  LoggedTrainingProgram program{};
  std::vector<LoggedStep> steps;
  std::vector<LoggedLoss> losses;
  std::vector<StepDataLoadTime>
      data;  ///< Step times and data-loading times, from lines that have both.
};

/// Summary of the training steps in a log; the first tenth of the steps (warm-up) is left out.
struct SteadySteps {
  std::int64_t steps = 0;  ///< Number of training steps in the log, including the warm-up.
  /// Number of times that the step number went back, because the job restarted.
  std::int64_t restarts = 0;
  /// Median duration of a step in seconds; negative: the log has no times.
  double step_time_s = -1;
  /// Median tokens per second of one device; negative: the log does not have them.
  double tokens_per_s = -1;
  /// Share of the total time that slow steps (above `kSlowStepFactor` medians) took in addition to
  /// the median step.
  double slow_share = 0;
  std::int64_t slow_steps = 0;

  /// Returns text about the slow steps: "3 that take more than 1.5 medians (12 % of the time)";
  /// empty: there are none.
  [[nodiscard]] std::string slow_steps_text() const;
};
SteadySteps steady_steps(const TrainingLog& log);

/// Finds steps that become slower during a run, and slow steps at constant intervals, as
/// checkpoints and evaluations cause. Empty for progress bars and for logs of fewer than 20 steps.
std::vector<FaultFinding> step_slowdown_findings(const TrainingLog& log);

}  // namespace stepwright::diagnose
