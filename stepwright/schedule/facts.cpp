#include "stepwright/schedule/facts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// True if two parts have the same direction and chunk, possibly for different micro-batches.
bool alike(const Part& a, const Part& b) {
  return a.direction == b.direction && a.chunk == b.chunk;
}

/// True if `a` is before a turn like that of `b` and has at least as many micro-batches waiting, of
/// each kind and chunk.
bool covers(const WaitingMicroBatches& a, const WaitingMicroBatches& b) {
  const bool pairs = a.beside.has_value();
  return pairs == b.beside.has_value() && alike(a.part, b.part) &&
         (!pairs || alike(*a.beside, *b.beside)) &&
         std::ranges::equal(a.backward, b.backward, std::ranges::greater_equal{}) &&
         std::ranges::equal(a.weight, b.weight, std::ranges::greater_equal{});
}

void add(std::vector<WaitingMicroBatches>& fullest, const WaitingMicroBatches& moment) {
  if (std::ranges::any_of(fullest, [&](const WaitingMicroBatches& m) { return covers(m, moment); }))
    return;
  std::erase_if(fullest, [&](const WaitingMicroBatches& m) { return covers(moment, m); });
  fullest.push_back(moment);
}

/// Updates the numbers of waiting micro-batches after a part has run.
void run(const Part& part, WaitingMicroBatches& waiting) {
  const auto chunk = static_cast<std::size_t>(part.chunk);
  switch (part.direction) {
    case Direction::kForward: ++waiting.backward[chunk]; break;
    case Direction::kBackward: --waiting.backward[chunk]; break;
    case Direction::kDataGradient:
      --waiting.backward[chunk];
      ++waiting.weight[chunk];
      break;
    case Direction::kWeightGradient: --waiting.weight[chunk]; break;
    default: break;
  }
}

}  // namespace

ChunkFirstLastPasses chunk_ends(std::span<const Part> parts, std::int32_t chunk) {
  ChunkFirstLastPasses ends;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].chunk != chunk) continue;
    const auto index = static_cast<std::int32_t>(i);
    switch (parts[i].direction) {
      case Direction::kForward:
        if (ends.first_forward < 0) ends.first_forward = index;
        break;
      case Direction::kBackward:
        ends.last_weight = -1;
        ends.last_backward = index;
        break;
      case Direction::kDataGradient: ends.last_backward = index; break;
      case Direction::kWeightGradient: ends.last_weight = index; break;
      default: break;
    }
  }
  return ends;
}

std::vector<WaitingMicroBatches> peak_memory_moments(std::span<const ScheduleTurn> turns,
                                                     std::int64_t chunks) {
  const std::vector<std::int32_t> none(static_cast<std::size_t>(chunks), 0);
  WaitingMicroBatches now{.part = {}, .beside = {}, .backward = none, .weight = none};
  std::vector<WaitingMicroBatches> fullest;
  for (const ScheduleTurn& turn : turns) {
    now.part = turn.part;
    now.beside = turn.beside;
    if (turn.beside && turn.part.direction != Direction::kForward) std::swap(now.part, *now.beside);
    add(fullest, now);
    run(turn.part, now);
    if (turn.beside) run(*turn.beside, now);
  }
  return fullest;
}

std::int64_t trailing_weight_gradients(std::span<const Part> parts) {
  std::int64_t weights = 0;
  for (const Part& part : parts) {
    if (part.direction == Direction::kDataGradient) weights = 0;
    if (part.direction == Direction::kWeightGradient) ++weights;
  }
  return weights;
}

BackwardForm backward_form(const Schedule& schedule) {
  static const auto kForms = [] {
    constexpr std::int64_t kFew = 2;
    // Enough rounds for every schedule to reach its steady state.
    constexpr std::int64_t kRounds = 4;
    std::array<BackwardForm, std::size(kScheduleRows)> forms{};
    for (const auto& [kind, name, definition] : kScheduleRows) {
      if (definition->traits.found) {  // The search chooses the shorter form for each backward.
        forms[static_cast<std::size_t>(kind)] = BackwardForm::kBoth;
        continue;
      }
      const std::vector<Part> parts =
          parts_in_issue_order(definition->turns({kFew, 0, kRounds * kFew, kFew}));
      const auto any = [&](Direction direction) {
        return std::ranges::find(parts, direction, &Part::direction) != parts.end();
      };
      const BackwardForm cut =
          any(Direction::kBackward) ? BackwardForm::kBoth : BackwardForm::kSplit;
      forms[static_cast<std::size_t>(kind)] =
          any(Direction::kDataGradient) ? cut : BackwardForm::kWhole;
    }
    return forms;
  }();
  return kForms[static_cast<std::size_t>(schedule.kind)];
}

}  // namespace stepwright::schedule
