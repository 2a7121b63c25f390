#pragma once

#include <string>
#include <vector>

#include "stepwright/core/named_file.h"
#include "stepwright/plan/job.h"
#include "stepwright/runtime/train_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::runtime {

/// Adds the options of a training run to a command: `stepwright train` and `stepwright-rank` accept
/// the same options.
void add_train_options(CLI::App& app, TrainOptions& options);

/// Fails with `kInput`, naming the option, if an option of a training run has a value that is
/// invalid for every plan.
void check_train_options(const TrainOptions& options);

/// Fails with `kInput`, naming the option, if an option of a training run has a value that is
/// invalid for this plan. Opens the weights of --weights-from to check them (`HuggingFaceWeights`).
void check_train_options_for_plan(const TrainOptions& options, const plan::PlannedJob& planned);

/// Returns the files, other than checkpoints, that a training run writes, each with its option.
std::vector<CommandLineFile> files_written_by_training(const TrainOptions& options);

/// Returns the command-line arguments by which a launcher passes these options to
/// `stepwright-rank`.
std::vector<std::string> rank_program_arguments(const TrainOptions& options);

}  // namespace stepwright::runtime
