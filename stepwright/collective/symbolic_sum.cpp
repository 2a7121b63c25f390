#include "stepwright/collective/symbolic_sum.h"

#include <algorithm>

namespace stepwright::collective {
namespace {

constexpr std::int32_t kExactRanks = 64;

/// Mixes the bits of a number: the finaliser of SplitMix64 (Steele et al. 2014).
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

}  // namespace

CollectiveSymbolicContract::CollectiveSymbolicContract(const CollectiveSchedule& schedule)
    : collective_(schedule.collective),
      pieces_(schedule.pieces),
      block_(schedule.pieces /
             std::max<std::int32_t>(1, static_cast<std::int32_t>(std::ssize(schedule.ranks)))),
      exact_(std::ssize(schedule.ranks) <= kExactRanks) {
  for (std::int32_t rank = 0; rank < std::ssize(schedule.ranks); ++rank) all_ += word(rank);
}

std::uint64_t CollectiveSymbolicContract::word(std::int32_t rank) const {
  const auto number = static_cast<std::uint64_t>(rank);
  return exact_ ? std::uint64_t{1} << number : mixed((number + 1) * 0x9e3779b97f4a7c15);
}

SymbolicSum CollectiveSymbolicContract::initial_symbolic_input(std::int32_t rank,
                                                               std::int32_t piece) const {
  const std::int64_t whose = rank;
  switch (collective_) {
    case CollectiveOperation::kAllGather: return {whose * block_ + piece, word(rank)};
    case CollectiveOperation::kAllToAll: return {whose * pieces_ + piece, word(rank)};
    default: return {piece, word(rank)};
  }
}

std::optional<SymbolicSum> CollectiveSymbolicContract::required_symbolic_output(
    std::int32_t rank, std::int32_t piece) const {
  const std::int32_t owner = block_ > 0 ? piece / block_ : 0;
  switch (collective_) {
    case CollectiveOperation::kAllGather: return SymbolicSum{piece, word(owner)};
    case CollectiveOperation::kReduceScatter:
      return SymbolicSum{std::int64_t{rank} * block_ + piece, all_};
    case CollectiveOperation::kAllReduce: return SymbolicSum{piece, all_};
    case CollectiveOperation::kAllToAll: {
      const std::int64_t sent = std::int64_t{rank} * block_ + piece % block_;
      return SymbolicSum{std::int64_t{owner} * pieces_ + sent, word(owner)};
    }
    case CollectiveOperation::kBroadcast: return SymbolicSum{piece, word(0)};
    case CollectiveOperation::kReduce:
      if (rank == 0) return SymbolicSum{piece, all_};
      return {};
    case CollectiveOperation::kPointToPoint: break;
  }
  return {};
}

std::optional<SymbolicSum> CollectiveSymbolicContract::symbolic_sum_of(const SymbolicSum& a,
                                                                       const SymbolicSum& b) const {
  if (a.place != b.place || (exact_ && (a.ranks & b.ranks) != 0)) return {};
  return SymbolicSum{a.place, a.ranks + b.ranks};
}

}  // namespace stepwright::collective
