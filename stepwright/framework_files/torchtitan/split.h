#pragma once

#include <cstdint>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the schedule of a pipeline and how layers are split among its stages: from a list in the
/// file, or as torchtitan derives it from the number of stages, the layers that embedding and
/// output count as, and the layers per stage (torchtitan/distributed/pipeline_parallel.py,
/// generate_llm_fqn_per_model_part, pipeline_llm). `layers` is the model's number of layers; 0:
/// unknown, and the split is even. Fails with `kInput` if a stage is left empty.
void read_titan_schedule(const Fields& parallelism, std::int64_t layers, plan::Plan& plan,
                         ImportReport& report);

}  // namespace stepwright::framework_files
