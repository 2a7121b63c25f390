#pragma once

#include <map>
#include <span>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::fit {

/// The host's work for messages in a step of a rank, in addition to their transfer.
struct HostMessageWork {
  std::map<collective::Collective, HostSeconds>
      copies;  ///< Seconds of copies into and out of messages, by operation.
  /// Seconds of dispatch for tensors that are split over tensor-parallel ranks.
  double dispatch_s = 0;
};

/// Returns laws of host overhead, by scheme and operation, that sum up to `host` over the messages
/// of a plan: time inside copies is distributed by bytes, time between copies by calls, and
/// dispatch by calls of tensor parallelism.
std::vector<FittedLaw<cost::HostOverheadLaw>> fit_host_overhead(const MessagesByScheme& planned,
                                                                const HostMessageWork& host);

/// Returns assumed laws of PyTorch's host overhead for messages of tensor parallelism (DTensor) and
/// of sharded data parallelism (FSDP2), if the plan does not send them. Their seconds come from the
/// framework's file, which was measured on another host, scaled by the ratio of this host's seconds
/// to the file's for the messages that were `found`; copies take `memory_s_per_byte`. Such laws
/// have 0 rows.
std::vector<FittedLaw<cost::HostOverheadLaw>> assumed_host_overhead(
    const MessagesByScheme& planned, const plan::MessageHostOverhead& host_overhead,
    std::span<const FittedLaw<cost::HostOverheadLaw>> found, double memory_s_per_byte);

}  // namespace stepwright::fit
