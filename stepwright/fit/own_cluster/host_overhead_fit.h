#pragma once

#include <map>
#include <span>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::fit {

/// The host's work for messages in one step of a rank, in addition to their transfer.
struct HostMessageWork {
  std::map<collective::CollectiveOperation, HostComputationSeconds>
      copies;  ///< Seconds of copies into and out of messages, by operation.
  /// Seconds of dispatch for tensors that are split over tensor-parallel ranks (DTensor).
  double dispatch_s = 0;
};

/// Returns formulas for the time that the host spends on messages besides their transfer, by kind
/// of parallelism and operation. They add up to `host` over the messages of a plan: time inside
/// copies is distributed by bytes, time between copies by calls, and dispatch time by calls of
/// tensor parallelism.
std::vector<FittedLaw<cost::MessageHostOverheadLaw>> fit_host_overhead(
    const MessagesByScheme& planned, const HostMessageWork& host);

/// Returns assumed formulas for PyTorch's host overhead for messages of tensor parallelism
/// (DTensor) and of sharded data parallelism (FSDP2), if the plan sends none. Their seconds come
/// from the framework's file, measured on another host, scaled by the ratio of this host's seconds
/// to the file's for the messages that were `found`; copies take `memory_s_per_byte`. Such formulas
/// have 0 rows.
std::vector<FittedLaw<cost::MessageHostOverheadLaw>> assumed_host_overhead(
    const MessagesByScheme& planned, const plan::MessageHostOverhead& host_overhead,
    std::span<const FittedLaw<cost::MessageHostOverheadLaw>> found, double memory_s_per_byte);

}  // namespace stepwright::fit
