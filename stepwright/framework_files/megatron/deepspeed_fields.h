#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// True if fields belong to Megatron-DeepSpeed (deepspeedai's, or BigScience's fork), which trains
/// by DeepSpeed if `--deepspeed` is set.
bool is_megatron_deepspeed(const Fields& fields);

/// Sets the framework and its degrees: Ulysses, and experts that tensor ranks do not share. Fails
/// with `kInput` if there are pipeline stages although `--no-pipeline-parallel` is set.
void take_deepspeed_degrees(const Fields& fields, PartialPlan& settled);

/// Sets how states are sharded, from the ZeRO stage in the arguments. The DeepSpeed configuration
/// that they name, which overrides it, is listed as not read; buckets and overlap are DeepSpeed's
/// own.
void take_deepspeed_states(const Fields& fields, PartialPlan& settled, ImportReport& report);

/// Sets the model properties that Megatron-DeepSpeed has and Megatron lacks: a norm after the
/// embedding, experts in every second layer, one expert per token.
void take_deepspeed_model(const Fields& fields, model::Architecture& model);

}  // namespace stepwright::framework_files
