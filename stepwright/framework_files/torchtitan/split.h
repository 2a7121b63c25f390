#pragma once

#include <cstdint>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the schedule of a pipeline and how its layers are split: parts that a file lists, or what
/// torchtitan makes of their number, of layers that the embedding and the output count for, and of
/// layers of a stage (torchtitan/distributed/pipeline_parallel.py,
/// generate_llm_fqn_per_model_part, pipeline_llm). `layers` of the model; 0: unknown, where an even
/// split is taken. Fails with `kInput` on parts that leave a stage empty.
void read_titan_schedule(const Fields& parallelism, std::int64_t layers, plan::Plan& plan,
                         ImportReport& report);

}  // namespace stepwright::framework_files
