#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"
#include "stepwright/plan/job.h"

namespace stepwright::collective_files {

/// Largest message size, in bytes, that NCCL's tuner configuration file can state.
inline constexpr std::uint64_t kMaxTunerMessageBytes = std::numeric_limits<std::uint64_t>::max();

/// A kind of communicator in an NCCL tuner file. The tuner tells communicators apart only by their
/// numbers of nodes and ranks, so the layout is that of one communicator with these numbers.
struct TunerCommunicatorKind {
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  cluster::GroupLayout layout;
  /// Names of the communicators of this kind in messages, separated by commas ("whole nodes").
  std::string name;
  /// Names of communicators with equal numbers of nodes and ranks but another layout, which an NCCL
  /// tuner file cannot distinguish; empty: none.
  std::string others;
};

/// Returns communicators over all ranks of 1, 2, 4, ... and all nodes of a cluster, for a tuner
/// file without a plan. Communicators of one rank are left out.
std::vector<TunerCommunicatorKind> cluster_tuner_communicators(const cluster::Cluster& cluster);

/// Returns a plan's communicators that run collectives (not only point-to-point messages), for a
/// tuner file. Communicators of one rank are left out. If several have equal numbers of nodes and
/// ranks but different layouts, the first in the order of `CommunicatorKind` counts.
std::vector<TunerCommunicatorKind> plan_tuner_communicators(const plan::PlannedJob& planned);

/// A range of message sizes, from `min_bytes` to `max_bytes` (both included) of the full buffer,
/// and the fastest algorithm and protocol for it.
struct TunerMessageSizeRange {
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = kMaxTunerMessageBytes;
  collective::CollectiveAlgorithm algorithm{};
  cost::CollectiveProtocol protocol{};

  bool operator==(const TunerMessageSizeRange&) const = default;
};

/// Returns, for message sizes from 0 to `kMaxTunerMessageBytes` without gaps, the algorithm and
/// protocol that the cost model finds fastest. Among equals the first algorithm, then the first
/// protocol, counts. The boundaries are exact, not sampled.
std::vector<TunerMessageSizeRange> tuner_message_size_ranges(
    const cost::MessageCostModel& cost, collective::CollectiveOperation collective,
    const cluster::GroupLayout& layout);

/// Options of an NCCL tuner file.
struct NcclTunerFileOptions {
  /// Text of the comment at the top of the tuner file, which says in one line what the file is for.
  std::string about;
  int channels = -1;  ///< Number of NCCL channels for every collective; -1: NCCL decides.
};

/// Returns the configuration file (CSV) for NCCL's example tuner plugin: for each communicator the
/// fastest algorithm and protocol of all-reduce, all-gather and reduce-scatter by size of the full
/// buffer. Other collectives are left to NCCL.
std::string nccl_tuner_csv(const cost::MessageCostModel& cost,
                           const std::vector<TunerCommunicatorKind>& groups,
                           const NcclTunerFileOptions& setting);

}  // namespace stepwright::collective_files
