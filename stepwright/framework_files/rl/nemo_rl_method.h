#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Writes what a plan's method asks for beside the policy into a file of NeMo-RL, whose batch and
/// cluster stand there: sections of its program, generation, and the nodes that generate. Returns
/// the program that reads the file. Fails with `kUnsupported` naming what no key of NeMo-RL says.
std::string write_nemo_rl_method(const plan::PlannedJob& planned, Tree& file);

/// Reads the method of a NeMo-RL configuration from its program's section; without one pretraining.
/// Generation, where it is on nodes of its own, has `apart` devices.
plan::TrainingMethod nemo_rl_method(const Fields& root, std::int64_t apart);

}  // namespace stepwright::framework_files
