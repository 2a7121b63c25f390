#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

/// Whether fields are of Megatron-DeepSpeed (deepspeedai, BigScience's fork): it trains by
/// DeepSpeed where `--deepspeed` says so.
bool is_megatron_deepspeed(const Fields& fields);

/// Takes the framework and its degrees: Ulysses, experts that tensor ranks do not share. Fails with
/// `kInput` on stages of a pipeline that `--no-pipeline-parallel` forbids.
void take_deepspeed_degrees(const Fields& fields, Settled& settled);

/// Takes how states are sharded, by the stage of ZeRO that the arguments say (the configuration
/// that they name decides; it is listed as not read); buckets and overlap are DeepSpeed's own.
void take_deepspeed_states(const Fields& fields, Settled& settled, ImportReport& report);

/// Takes what its models have beside Megatron's: a norm after the embedding, experts in each second
/// layer, one expert for each token.
void take_deepspeed_model(const Fields& fields, model::Architecture& model);

}  // namespace stepwright::framework_files
