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

/// Adds the options of `train` to a command; `stepwright` and `stepwright-rank` accept the same
/// options.
void add_train_flags(CLI::App& app, TrainOptions& options);

/// Fails with `kInput`, naming the option, for values that are invalid in any training.
void check_train_options(const TrainOptions& options);

/// Fails with `kInput`, naming the option, for values that are invalid in a training of this plan;
/// opens --weights-from (`HuggingFaceWeights`).
void check_for_plan(const TrainOptions& options, const plan::PlannedJob& planned);

/// Returns the files, other than checkpoints, that a training run writes.
std::vector<NamedFile> files_to_write(const TrainOptions& options);

/// Returns the command-line arguments that pass these options to a rank.
std::vector<std::string> train_arguments(const TrainOptions& options);

}  // namespace stepwright::runtime
