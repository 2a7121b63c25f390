#pragma once

#include <map>
#include <span>
#include <vector>

#include "stepwright/fit/own_cluster/cluster_fit.h"
#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::fit {

/// The host's work for messages in a step of a rank, beyond their transfer.
struct HostOfMessages {
  std::map<collective::Collective, HostSeconds>
      copies;  ///< Seconds of copies into and out of messages, by operation.
  /// Seconds of dispatch for tensors that are split over the ranks of tensor parallelism.
  double dispatch_s = 0;
};

/// Laws by scheme and operation that sum up to it over the messages of a plan: time in copies by
/// bytes, time between them by calls, dispatch by calls of tensor parallelism.
std::vector<FittedLaw<cost::HostOverheadLaw>> fit_host_overhead(const MessagesByScheme& planned,
                                                                const HostOfMessages& host);

/// The handling that PyTorch is assumed to do for messages of tensor parallelism (DTensor) and of
/// sharded data parallelism (FSDP2), for those of the two that a plan does not send: seconds of the
/// framework's file, which are of another host, times how this host's seconds for the messages that
/// were `found` compare to them; copies at `memory_s_per_byte`. Marked by no rows.
std::vector<FittedLaw<cost::HostOverheadLaw>> assumed_host_overhead(
    const MessagesByScheme& planned, const plan::MessageHostOverhead& host_overhead,
    std::span<const FittedLaw<cost::HostOverheadLaw>> found, double memory_s_per_byte);

}  // namespace stepwright::fit
