#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright::diagnose {

/// Programs whose log lines about training steps are read; each has an example of its lines.
enum class TrainingProgram : std::uint8_t {
  kMegatron,      ///< "iteration 100/ 1000 | ... elapsed time per iteration (ms): 1234.5 | ..."
  kTorchtitan,    ///< "step: 10  loss: 5.1  memory: 43.45GiB(45.7%)  tps: 876  ..."
  kNemo,          ///< "global_step: 10 | ... | train_step_timing in s: 3.14"
  kDeepSpeed,     ///< "steps: 10 loss: 2.3 iter time (s): 1.23 samples/sec: 104.1"
  kVerl,          ///< "step:10 - ... - timing_s/step:23.1 - ..."
  kTransformers,  ///< "{'loss': 2.3, 'grad_norm': 0.5, 'epoch': 0.01}", without times.
  kMmengine,      ///< "Epoch(train) [1][200/735] ... time: 2.89  data_time: 0.0  loss: 2.75".
  kProgressBar,   ///< "120/1000 [02:03<15:00, 1.03s/it]", as transformers and Lightning print it.
};
inline constexpr Named<TrainingProgram> kTrainingProgramNames[] = {
    {TrainingProgram::kMegatron, "Megatron-LM"},
    {TrainingProgram::kTorchtitan, "torchtitan"},
    {TrainingProgram::kNemo, "NeMo"},
    {TrainingProgram::kDeepSpeed, "DeepSpeed"},
    {TrainingProgram::kVerl, "verl"},
    {TrainingProgram::kTransformers, "transformers"},
    {TrainingProgram::kMmengine, "mmengine"},
    {TrainingProgram::kProgressBar, "progress bar"}};

/// The words before each figure in a program's lines about steps; empty: its lines lack that
/// figure.
struct ProgramWords {
  TrainingProgram program{};
  std::string mark;  ///< A line with a loss contains this text.
  /// Words before the number of the step; the second is tried if the first is absent.
  std::array<std::string, 2> numbers;
  /// True if the step's number is written "1][200/735]": epoch, step within the epoch, steps of an
  /// epoch.
  bool by_epoch = false;
  std::string time;  ///< Words before the time of a step.
  double time_unit_s = 1;
  std::string rate;  ///< Words before the tokens per second of a device.
  std::array<std::string, 2> loss;
  std::string norm;
};

/// Returns the row of words.yaml for each program except progress bars.
std::span<const ProgramWords> program_words();

/// Returns the number of the step in a line, counted over all epochs; negative: the line has none.
std::int64_t step_number(std::string_view line, const ProgramWords& words);

/// Returns the number after a word; blanks, quotes and colours between them are skipped. "nan" and
/// "inf" are numbers, and commas between groups of digits are ignored. nullopt: no number.
std::optional<double> number_after_word(std::string_view line, std::string_view word);

}  // namespace stepwright::diagnose
