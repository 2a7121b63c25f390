#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// True if arguments belong to Megatron-DeepSpeed (deepspeedai's or BigScience's fork), which is
/// recognised by the argument `--deepspeed`.
bool is_megatron_deepspeed(const FrameworkSettingsReader& fields);

/// Sets framework and degrees from Megatron-DeepSpeed's arguments: Ulysses sequence parallelism,
/// and experts without tensor parallelism by default. Fails with `kInput` if
/// `--no-pipeline-parallel` is set with several pipeline stages.
void read_megatron_deepspeed_degrees(const FrameworkSettingsReader& fields, PartialPlan& settled);

/// Sets the sharding of parameters, gradients and optimizer states from Megatron-DeepSpeed's
/// `--zero-stage`, with DeepSpeed's default bucket size and overlap.
void read_megatron_zero_stage(const FrameworkSettingsReader& fields, PartialPlan& settled,
                              ImportReport& report);

/// Sets the model properties in which Megatron-DeepSpeed differs from Megatron-LM: a norm after the
/// embedding; by default experts in every second layer and one expert per token.
void set_megatron_deepspeed_model(const FrameworkSettingsReader& fields,
                                  model::ModelArchitecture& model);

}  // namespace stepwright::framework_files
