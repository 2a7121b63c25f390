#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright::diagnose {

/// Programs whose lines about steps are read.
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

/// Words in front of the figures in a program's lines about steps; empty: its lines do not say the
/// figure.
struct ProgramWords {
  TrainingProgram program{};
  std::string mark;  ///< A line about a loss holds it.
  /// Words in front of the step's number; the second where the first is absent.
  std::array<std::string, 2> numbers;
  /// True if the number is written "1][200/735]": epoch, step of the epoch, its steps.
  bool by_epoch = false;
  std::string time;  ///< Words in front of a step's time.
  double time_unit_s = 1;
  std::string rate;  ///< Tokens per second of a device.
  std::array<std::string, 2> loss;
  std::string norm;
};

/// Returns a row for each program but progress bars, of words.yaml.
std::span<const ProgramWords> program_words();

/// The number of a step in a line, of an epoch behind those of the epochs before; negative where
/// the line does not say it.
std::int64_t step_number(std::string_view line, const ProgramWords& words);

/// The number behind a word, which blanks, quotes and colours may precede: "nan" and "inf" are
/// numbers, and commas in groups of digits are passed over; nullopt without.
std::optional<double> figure_behind(std::string_view line, std::string_view word);

}  // namespace stepwright::diagnose
