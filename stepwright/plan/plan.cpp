#include "stepwright/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/plan/overlap_table.h"

namespace stepwright::plan {
namespace {

std::optional<StateShardingScope> spread_of(char letter) {
  for (const auto& [value, name] : kSpreadNames) {
    if (name.front() == letter) return value;
  }
  return std::nullopt;
}

std::string_view states_of(std::string_view word) {
  for (const ShardingAlias& alias : kShardingAliases) {
    if (alias.name == word) return alias.states;
  }
  return word;
}

}  // namespace

OverlapFlags all_overlap_flags(bool on) {
  OverlapFlags overlap;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) overlap.*row.flag = on && !row.chosen;
  return overlap;
}

std::string sharding_letters(const Sharding& sharding) {
  return fmt::format("{}{}{}", name_of(kSpreadNames, sharding.parameters),
                     name_of(kSpreadNames, sharding.gradients),
                     name_of(kSpreadNames, sharding.optimizer));
}

std::optional<Sharding> sharding_named_by_word(std::string_view word) {
  const std::string_view states = states_of(word);
  if (states.size() != 3) return std::nullopt;
  const auto parameters = spread_of(states[0]);
  const auto gradients = spread_of(states[1]);
  const auto optimizer = spread_of(states[2]);
  if (!parameters || !gradients || !optimizer) return std::nullopt;
  return Sharding{.parameters = *parameters, .gradients = *gradients, .optimizer = *optimizer};
}

bool is_paro_strategy(const Sharding& sharding) {
  return sharding.parameters <= sharding.optimizer && sharding.gradients <= sharding.optimizer;
}

std::vector<Sharding> paro_strategies() {
  static constexpr std::string_view kWords[] = {"NNN", "NNI", "NNG", "NII", "NIG", "NGG", "INI",
                                                "ING", "III", "IIG", "IGG", "GNG", "GIG", "GGG"};
  std::vector<Sharding> strategies;
  for (const std::string_view word : kWords) strategies.push_back(*sharding_named_by_word(word));
  return strategies;
}

std::string rank_order_text(const RankOrder& order) {
  std::string word;
  for (const ParallelismAxis axis : order.axes) {
    if (!word.empty()) word += '-';
    word += name_of(kAxisNames, axis);
  }
  return word;
}

std::optional<RankOrder> parse_rank_order(std::string_view word) {
  RankOrder order;
  std::ranges::sort(order.axes);
  do {
    if (rank_order_text(order) == word) return order;
  } while (std::ranges::next_permutation(order.axes).found);
  return std::nullopt;
}

std::string collective_algorithms_text(const CollectiveAlgorithmChoices& collectives) {
  std::string word;
  for (const auto& [choice, scheme] : kChoosingSchemes) {
    if (collectives.*choice == collective::CollectiveAlgorithm::kLibrary) continue;
    word += fmt::format("{}{} {}", word.empty() ? "" : ", ", scheme,
                        name_of(collective::kCollectiveAlgorithmNames, collectives.*choice));
  }
  return word.empty() ? std::string(name_of(collective::kCollectiveAlgorithmNames,
                                            collective::CollectiveAlgorithm::kLibrary))
                      : word;
}

std::string layers_per_chunk_text(const std::vector<std::int64_t>& layers) {
  std::string word;
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t count = 1;
    while (i + count < layers.size() && layers[i + count] == layers[i]) ++count;
    word += fmt::format("{}{}", word.empty() ? "" : ", ", layers[i]);
    if (count > 1) word += fmt::format(" x {}", count);
    i += count;
  }
  return word;
}

}  // namespace stepwright::plan
