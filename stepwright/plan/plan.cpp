#include "stepwright/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

std::optional<Spread> spread_of(char letter) {
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

/// The letters of what may run beside computation: "gp-c-l" lacks tensor and expert.
std::string overlap_letters(const Overlap& overlap) {
  const auto letter = [](bool on, char yes) { return on ? yes : '-'; };
  std::string letters = {letter(overlap.gradients, 'g'),      letter(overlap.parameters, 'p'),
                         letter(overlap.tensor, 't'),         letter(overlap.tensor_gradients, 'b'),
                         letter(overlap.context, 'c'),        letter(overlap.expert, 'e'),
                         letter(overlap.shared_experts, 's'), letter(overlap.pipeline, 'l')};
  for (const OverlapRow& row : kOverlapTable) {
    if (row.chosen && overlap.*row.flag) letters += fmt::format("+{}", row.name);
  }
  return letters;
}

}  // namespace

Overlap overlap_all(bool on) {
  Overlap overlap;
  for (const OverlapRow& row : kOverlapTable) overlap.*row.flag = on && !row.chosen;
  return overlap;
}

std::string sharding_word(const Sharding& sharding) {
  return fmt::format("{}{}{}", name_of(kSpreadNames, sharding.parameters),
                     name_of(kSpreadNames, sharding.gradients),
                     name_of(kSpreadNames, sharding.optimizer));
}

std::optional<Sharding> sharding_of(std::string_view word) {
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
  for (const std::string_view word : kWords) strategies.push_back(*sharding_of(word));
  return strategies;
}

std::string rank_order_word(const RankOrder& order) {
  std::string word;
  for (const Axis axis : order.axes) {
    if (!word.empty()) word += '-';
    word += name_of(kAxisNames, axis);
  }
  return word;
}

std::optional<RankOrder> rank_order_of(std::string_view word) {
  RankOrder order;
  std::ranges::sort(order.axes);
  do {
    if (rank_order_word(order) == word) return order;
  } while (std::ranges::next_permutation(order.axes).found);
  return std::nullopt;
}

std::string collectives_word(const Collectives& collectives) {
  std::string word;
  for (const auto& [choice, scheme] : kChoosingSchemes) {
    if (collectives.*choice == collective::Algorithm::kLibrary) continue;
    word += fmt::format("{}{} {}", word.empty() ? "" : ", ", scheme,
                        name_of(collective::kAlgorithmNames, collectives.*choice));
  }
  return word.empty()
             ? std::string(name_of(collective::kAlgorithmNames, collective::Algorithm::kLibrary))
             : word;
}

std::string layers_word(const std::vector<std::int64_t>& layers) {
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

namespace {

std::string basis_text(const schedule::OrderBasis& basis) {
  if (basis.chunks.empty()) return "";
  std::string text =
      fmt::format("[{}, room {} B, hop {} ns", name_of(schedule::kFoundPlacements, basis.placement),
                  fmt::join(basis.room_bytes, "+"), basis.hop_ns);
  for (const schedule::ChunkLoad& chunk : basis.chunks) {
    text +=
        fmt::format(", {}+{}+{}/{} ns {}/{} B", chunk.forward_ns, chunk.data_ns, chunk.weight_ns,
                    chunk.backward_ns, chunk.forward_bytes, chunk.weight_bytes);
  }
  return text + "]";
}

std::string offload_text(const Offload& offload) {
  if (offload == Offload{}) return "";
  return fmt::format(" host:{}{}{}[{}]", offload.optimizer, offload.masters ? "m" : "-",
                     offload.parameters ? "p" : "-",
                     fmt::join(offload_words(offload.activations), ","));
}

}  // namespace

std::string plan_text(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  std::string text = fmt::format("tp{} cp{} ep{} etp{} dp{} pp{} mb{}", degrees.tensor,
                                 degrees.context, degrees.expert, degrees.expert_tensor,
                                 degrees.data, degrees.pipeline, plan.micro_batch);
  text += fmt::format(" {}/{}", name_of(schedule::kScheduleNames, plan.schedule.kind),
                      plan.schedule.chunks);
  if (plan.schedule.strands > 1) text += fmt::format("x{}", plan.schedule.strands);
  if (plan.schedule.group > 0) text += fmt::format(" groups:{}", plan.schedule.group);
  if (const auto placement = plan.schedule.placement) {
    text += fmt::format("[{}]", name_of(schedule::kFoundPlacements, *placement));
  }
  text += basis_text(plan.schedule.basis);
  text += fmt::format(" {}/{}/{}", sharding_word(plan.sharding), plan.sharding.group,
                      plan.sharding.expert_group);
  text += fmt::format(" recompute:{}", recompute_word(plan.recompute));
  text += fmt::format(" sp:{} {} {} {}", plan.sequence_parallel ? "yes" : "no",
                      name_of(kTensorInputNames, plan.tensor_input),
                      name_of(kContextKindNames, plan.context_kind),
                      name_of(kDTypeNames, plan.accumulate));
  text += fmt::format(" buckets:{}/{} overlap:{}", plan.gradient_bucket, plan.parameter_bucket,
                      overlap_letters(plan.overlap));
  text += fmt::format(" collectives:{} {}", collectives_word(plan.collectives),
                      rank_order_word(plan.rank_order));
  text +=
      plan.layers.empty() ? " layers:even" : fmt::format(" layers:{}", fmt::join(plan.layers, ","));
  return text + offload_text(plan.offload);
}

}  // namespace stepwright::plan
