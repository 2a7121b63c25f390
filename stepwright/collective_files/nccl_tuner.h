#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stepwright/cost/collective_cost.h"
#include "stepwright/plan/job.h"

namespace stepwright::collective_files {

/// The largest size that a tuner file can name.
inline constexpr std::uint64_t kMostTunerBytes = std::numeric_limits<std::uint64_t>::max();

/// Communicators that lie alike. A tuner plugin knows them by these two numbers alone.
struct TunerGroup {
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  cluster::GroupLayout layout;
  std::string name;    ///< Name of the group, for people.
  std::string others;  ///< Names of groups with the same numbers that lie differently.
};

/// All ranks of 1, 2, 4, ... nodes and of all nodes, without groups of one.
std::vector<TunerGroup> node_groups(const cluster::Cluster& cluster);

/// The groups of a plan that do more than point to point, without groups of one; of experts where
/// the model has any. Of groups with equal numbers that lie differently the first counts, in the
/// order of `GroupKind`.
std::vector<TunerGroup> plan_groups(const plan::PlannedJob& planned);

/// The cheapest choice from one size of the full buffer to another, both included.
struct TunerRange {
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = kMostTunerBytes;
  collective::Algorithm algorithm{};
  cost::Protocol protocol{};

  bool operator==(const TunerRange&) const = default;
};

/// The choice that the cost model finds cheapest for each size, without gaps from 0 to
/// `kMostTunerBytes`. Of equals the first in the order of ways, then of protocols. Exact: squared
/// seconds are quadratic in the size, and their crossings are where a choice may change.
std::vector<TunerRange> tuner_ranges(const cost::CollectiveCost& cost,
                                     collective::Collective collective,
                                     const cluster::GroupLayout& layout);

/// The head of a tuner file, beside its ranges.
struct TunerSetting {
  std::string about;  ///< Purpose of the file, in one line.
  int channels = -1;  ///< Channels of every collective; -1: NCCL's choice.
};

/// The configuration file (CSV) of NCCL's example tuner plugin for all-reduce, all-gather and
/// reduce-scatter of these groups; sizes are full buffers, as NCCL passes them to a plugin. Other
/// collectives have no price and so no line.
std::string nccl_tuner_csv(const cost::CollectiveCost& cost, const std::vector<TunerGroup>& groups,
                           const TunerSetting& setting);

}  // namespace stepwright::collective_files
