#include "stepwright/collective/generators.h"

#include <algorithm>
#include <bit>

#include "stepwright/collective/direct.h"
#include "stepwright/collective/halving_doubling.h"
#include "stepwright/collective/ho_ring.h"
#include "stepwright/collective/rail_halving.h"
#include "stepwright/collective/relay.h"
#include "stepwright/collective/ring.h"
#include "stepwright/collective/rings.h"
#include "stepwright/collective/tree.h"
#include "stepwright/collective/two_level.h"

namespace stepwright {
namespace {

/// Lanes are numbered in eight bits.
constexpr std::int64_t kMostRings = 255;

bool gathers_or_reduces(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ||
         collective == Collective::kAllReduce;
}

bool gathers_reduces_or_exchanges(Collective collective) {
  return gathers_or_reduces(collective) || collective == Collective::kAllToAll;
}

bool is_rooted_or_reduces(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kAllReduce;
}

bool exchanges(Collective collective) { return collective == Collective::kAllToAll; }

bool is_power_of_two(std::int64_t number) {
  return std::has_single_bit(static_cast<std::uint64_t>(number));
}

std::int32_t no_scratch(const ScheduleSpec& /*spec*/) { return 0; }

/// Rings and their hierarchies are one family (`Tiered`).
template <Tiered (*kTiers)(const ScheduleSpec&)>
std::int32_t scratch_of_tiers(const ScheduleSpec& spec) {
  return tiered_scratch(kTiers(spec), spec.collective);
}
template <Tiered (*kTiers)(const ScheduleSpec&)>
RankSchedule rank_of_tiers(const ScheduleSpec& spec, std::int32_t rank) {
  return tiered_rank(kTiers(spec), spec.collective, rank);
}

constexpr Generator kGenerators[] = {
    {.algorithm = Algorithm::kRing,
     .text = "one ring over all ranks; N-1 steps, (N-1)/N of the buffer",
     .covers = gathers_or_reduces,
     .in_process_group = true,
     .scratch = scratch_of_tiers<ring_tiers>,
     .rank = rank_of_tiers<ring_tiers>,
     .seconds = ring_s},
    {.algorithm = Algorithm::kRings,
     .text = "a ring for each rank of a node, each out through another NIC; N-1 steps",
     .covers = gathers_or_reduces,
     .exists = [](std::int64_t members, std::int64_t) { return members <= kMostRings; },
     .needs = "at most 255 ranks on a node",
     .parts = ring_count,
     .scratch =
         [](const ScheduleSpec& spec) {
           return ring_count(spec) * tiered_scratch(ring_tiers(spec), spec.collective);
         },
     .rank = rings_rank,
     .seconds = rings_s},
    {.algorithm = Algorithm::kHalvingDoubling,
     .text = "recursive halving and doubling, 2^k ranks; log2 N steps, (N-1)/N of the buffer",
     .covers = gathers_or_reduces,
     .exists = [](std::int64_t members,
                  std::int64_t nodes) { return is_power_of_two(members * nodes); },
     .needs = "a power of two of ranks",
     .in_process_group = true,
     .scratch = halving_doubling_scratch,
     .rank = halving_doubling,
     .seconds = halving_doubling_s},
    {.algorithm = Algorithm::kTree,
     .text = "binomial tree for small buffers; log2 N rounds of the whole buffer",
     .covers = is_rooted_or_reduces,
     .whole_buffer = true,
     .in_process_group = true,
     .scratch =
         [](const ScheduleSpec& spec) {
           return spec.collective == Collective::kReduce ? spec.chunks : 0;
         },
     .rank = binomial_tree,
     .seconds = tree_s},
    {.algorithm = Algorithm::kDirect,
     .text = "each rank to each other; one latency, (N-1)/N of the buffer",
     .covers = gathers_reduces_or_exchanges,
     .in_process_group = true,
     .scratch = no_scratch,
     .rank = direct_exchange,
     .seconds = direct_s},
    {.algorithm = Algorithm::kTwoLevel,
     .text = "along the rails and inside the nodes in turn",
     .covers = gathers_or_reduces,
     .on_two_levels = true,
     .in_process_group = true,
     .scratch = scratch_of_tiers<two_level_tiers>,
     .rank = rank_of_tiers<two_level_tiers>,
     .seconds = two_level_s},
    {.algorithm = Algorithm::kRailHalving,
     .text = "halving and doubling along the rails, 2^k nodes, and inside the nodes in turn",
     .covers = gathers_or_reduces,
     .exists = [](std::int64_t, std::int64_t nodes) { return is_power_of_two(nodes); },
     .needs = "several ranks on each of several nodes, a power of two of them",
     .on_two_levels = true,
     .scratch = rail_halving_scratch,
     .rank = rail_halving,
     .seconds = rail_halving_s},
    {.algorithm = Algorithm::kHoRing,
     .text = "along the rails and inside the nodes at the same time, in chunks",
     .covers = gathers_or_reduces,
     .on_two_levels = true,
     .in_process_group = true,
     .scratch = scratch_of_tiers<ho_ring_tiers>,
     .rank = rank_of_tiers<ho_ring_tiers>,
     .seconds = ho_ring_s},
    {.algorithm = Algorithm::kRelay,
     .text = "all-to-all along the rails, passed on inside the nodes",
     .covers = exchanges,
     .on_two_levels = true,
     .sent = [](double members,
                double nodes) { return (members - 1) / members + (nodes - 1) / nodes; },
     .in_process_group = true,
     .scratch = relay_scratch,
     .rank = relay_exchange,
     .seconds = relay_s}};
static_assert(std::size(kGenerators) == std::size(kGeneratedNames));

}  // namespace

const Generator* find_generator(Algorithm algorithm) {
  const auto found = std::ranges::find(kGenerators, algorithm, &Generator::algorithm);
  return found == std::ranges::end(kGenerators) ? nullptr : found;
}

const Generator& generator_of(Algorithm algorithm) { return *find_generator(algorithm); }

}  // namespace stepwright
