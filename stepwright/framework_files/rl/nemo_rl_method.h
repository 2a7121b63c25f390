#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Adds the plan's training method (SFT, DPO, GRPO), generation and nodes that only generate to a
/// NeMo-RL configuration that already has policy, batch and cluster. Returns the path of the
/// NeMo-RL program that runs the file. Fails with `kUnsupported` for what NeMo-RL has no key for.
std::string write_nemo_rl_method(const plan::PlannedJob& planned, DocumentTree& file);

/// Reads the training method from a NeMo-RL configuration: GRPO, DPO or SFT if it has the section
/// `grpo`, `dpo` or `sft`, else pretraining. `apart`: number of devices that only generate; 0:
/// generation shares the training devices.
plan::TrainingMethod nemo_rl_training_method(const FrameworkSettingsReader& root,
                                             std::int64_t apart);

}  // namespace stepwright::framework_files
