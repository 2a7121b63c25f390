#pragma once

#include "stepwright/framework_files/draft.h"
#include "stepwright/framework_files/fields.h"

namespace stepwright {

/// Dispatchers in the words of `--moe-token-dispatcher-type`.
inline constexpr Named<Dispatcher> kMegatronDispatchers[] = {
    {Dispatcher::kAllToAll, "alltoall"},
    {Dispatcher::kAllToAll, "alltoall_seq"},
    {Dispatcher::kAllGather, "allgather"},
    {Dispatcher::kOncePerNode, "flex"}};

/// Reads the batch of fields of Megatron: of one that grows the last is taken.
void read_batch_fields(const Fields& fields, const Given& given, Draft& draft);

/// Reads precision, the type of gradients, optimizer, dispatcher and kernels.
void read_job_fields(const Fields& fields, Draft& draft);

}  // namespace stepwright
