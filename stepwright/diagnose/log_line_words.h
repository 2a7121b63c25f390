#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright::diagnose {

/// Training programs whose log lines about steps are recognised, each with an example of such a
/// line.
enum class LoggedTrainingProgram : std::uint8_t {
  /// Megatron-LM: "iteration 100/ 1000 | ... elapsed time per iteration (ms): 1234.5 | ..."
  kMegatron,
  kTorchtitan,    ///< torchtitan: "step: 10  loss: 5.1  memory: 43.45GiB(45.7%)  tps: 876  ..."
  kNemo,          ///< NeMo: "global_step: 10 | ... | train_step_timing in s: 3.14"
  kDeepSpeed,     ///< DeepSpeed: "steps: 10 loss: 2.3 iter time (s): 1.23 samples/sec: 104.1"
  kVerl,          ///< verl: "step:10 - ... - timing_s/step:23.1 - ..."
  kTransformers,  ///< transformers: "{'loss': 2.3, 'grad_norm': 0.5, 'epoch': 0.01}"; has no times.
  /// mmengine: "Epoch(train) [1][200/735] ... time: 2.89  data_time: 0.0  loss: 2.75"
  kMmengine,
  kProgressBar,  ///< Progress bar of transformers or Lightning: "120/1000 [02:03<15:00, 1.03s/it]"
};
inline constexpr Named<LoggedTrainingProgram> kTrainingProgramNames[] = {
    {LoggedTrainingProgram::kMegatron, "Megatron-LM"},
    {LoggedTrainingProgram::kTorchtitan, "torchtitan"},
    {LoggedTrainingProgram::kNemo, "NeMo"},
    {LoggedTrainingProgram::kDeepSpeed, "DeepSpeed"},
    {LoggedTrainingProgram::kVerl, "verl"},
    {LoggedTrainingProgram::kTransformers, "transformers"},
    {LoggedTrainingProgram::kMmengine, "mmengine"},
    {LoggedTrainingProgram::kProgressBar, "progress bar"}};

/// The words by which a training program's log lines are recognised and read; an empty word: its
/// lines lack that figure.
struct LogLineWords {
  LoggedTrainingProgram program{};
  std::string mark;  ///< Text that marks a log line with a loss.
  /// Texts that precede the step number in such a log line; the second is tried if the first is
  /// absent.
  std::array<std::string, 2> numbers;
  /// True if the step number is written as "1][200/735]": epoch, step within the epoch, steps per
  /// epoch.
  bool by_epoch = false;
  /// Text that precedes the duration of a step in such a log line.
  std::string time;
  double time_unit_s = 1;
  /// Text that precedes the tokens per second of one device in such a log line.
  std::string rate;
  std::array<std::string, 2> loss;
  std::string norm;
};

/// Returns the rows of words.yaml: how to read the log lines of each training program except
/// progress bars.
std::span<const LogLineWords> training_log_line_words();

/// Returns the step number in a log line, counted over all epochs; negative: the line has none.
std::int64_t step_number_in_log_line(std::string_view line, const LogLineWords& words);

/// Returns the first number after a word in a log line, skipping blanks, quotes and colours; "nan"
/// and "inf" are numbers, and commas between groups of digits are ignored. nullopt: no number
/// follows.
std::optional<double> number_after_word(std::string_view line, std::string_view word);

}  // namespace stepwright::diagnose
