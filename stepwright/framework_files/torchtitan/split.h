#pragma once

#include <cstdint>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads torchtitan's pipeline schedule and the layers of each stage, from a list in the file or as
/// torchtitan derives them (torchtitan/distributed/pipeline_parallel.py,
/// generate_llm_fqn_per_model_part, pipeline_llm). `layers`: number of the model's layers; 0:
/// unknown, the split is even. Fails with `kInput` if a stage would be empty.
void read_titan_schedule(const FrameworkSettingsReader& parallelism, std::int64_t layers,
                         plan::Plan& plan, ImportReport& report);

}  // namespace stepwright::framework_files
