#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Adds the parts of a plan's method other than the policy to a file of NeMo-RL that already has
/// batch and cluster: the sections of its program, generation, and the nodes that generate. Returns
/// the program that reads the file. Fails with `kUnsupported`, naming it, for a property that no
/// key of NeMo-RL expresses.
std::string write_nemo_rl_method(const plan::PlannedJob& planned, Tree& file);

/// Reads the method of a NeMo-RL configuration from the section of its program; without such a
/// section the method is pretraining. `apart` is the number of devices for generation, if it has
/// nodes of its own.
plan::TrainingMethod nemo_rl_method(const Fields& root, std::int64_t apart);

}  // namespace stepwright::framework_files
