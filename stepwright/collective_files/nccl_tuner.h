#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"
#include "stepwright/plan/job.h"

namespace stepwright::collective_files {

/// Largest message size that a tuner file can state.
inline constexpr std::uint64_t kMostTunerBytes = std::numeric_limits<std::uint64_t>::max();

/// Communicators with the same layout. A tuner plugin identifies them only by the numbers of nodes
/// and ranks.
struct TunerGroup {
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  cluster::GroupLayout layout;
  std::string name;    ///< Name of the group, in messages.
  std::string others;  ///< Names of groups with the same numbers but another layout; empty: none.
};

/// Returns the groups of all ranks of 1, 2, 4, ... nodes and of all nodes, without groups of one
/// rank.
std::vector<TunerGroup> node_groups(const cluster::Cluster& cluster);

/// Returns the groups of a plan that run collectives other than point to point, without groups of
/// one rank; groups of experts only if the model has any. Of groups with equal numbers but
/// different layouts, the first in the order of `GroupKind` is used.
std::vector<TunerGroup> plan_groups(const plan::PlannedJob& planned);

/// The cheapest algorithm and protocol for a range of sizes of the full buffer, both ends included.
struct TunerRange {
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = kMostTunerBytes;
  collective::Algorithm algorithm{};
  cost::Protocol protocol{};

  bool operator==(const TunerRange&) const = default;
};

/// Returns the choice that the cost model finds cheapest for each size, without gaps from 0 to
/// `kMostTunerBytes`. Of equal choices the first counts, in the order of algorithms, then of
/// protocols. Exact: squared seconds are quadratic in the size, and the choice can change only
/// where these curves cross.
std::vector<TunerRange> tuner_ranges(const cost::CollectiveCost& cost,
                                     collective::Collective collective,
                                     const cluster::GroupLayout& layout);

/// Settings of a tuner file, besides its ranges.
struct TunerSetting {
  std::string about;  ///< Purpose of the file, in one line.
  int channels = -1;  ///< Channels of every collective; -1: NCCL's choice.
};

/// Writes the configuration file (CSV) of NCCL's example tuner plugin for all-reduce, all-gather
/// and reduce-scatter of these groups; sizes are full buffers, as NCCL passes them to a plugin.
/// Other collectives have no price and so no line.
std::string nccl_tuner_csv(const cost::CollectiveCost& cost, const std::vector<TunerGroup>& groups,
                           const TunerSetting& setting);

}  // namespace stepwright::collective_files
