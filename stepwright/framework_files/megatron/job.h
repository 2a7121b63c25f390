#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Dispatchers in the words of `--moe-token-dispatcher-type`.
inline constexpr Named<plan::Dispatcher> kMegatronDispatchers[] = {
    {plan::Dispatcher::kAllToAll, "alltoall"},
    {plan::Dispatcher::kAllToAll, "alltoall_seq"},
    {plan::Dispatcher::kAllGather, "allgather"},
    {plan::Dispatcher::kOncePerNode, "flex"}};

/// Reads the batch of fields of Megatron: of one that grows the last is taken.
void read_batch_fields(const Fields& fields, const Given& given, Draft& draft);

/// Reads precision, the type of gradients, optimizer, dispatcher and kernels.
void read_job_fields(const Fields& fields, Draft& draft);

}  // namespace stepwright::framework_files
