#include "stepwright/schedule/facts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {
namespace {

/// True if two parts have the same direction and chunk, possibly for different micro-batches.
bool alike(const PipelineWorkPart& a, const PipelineWorkPart& b) {
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
void run(const PipelineWorkPart& part, WaitingMicroBatches& waiting) {
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

ModelChunkPassIndices chunk_ends(std::span<const PipelineWorkPart> parts, std::int32_t chunk) {
  ModelChunkPassIndices ends;
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

std::vector<WaitingMicroBatches> peak_memory_moments(std::span<const PipelineScheduleTurn> turns,
                                                     std::int64_t chunks) {
  const std::vector<std::int32_t> none(static_cast<std::size_t>(chunks), 0);
  WaitingMicroBatches now{.part = {}, .beside = {}, .backward = none, .weight = none};
  std::vector<WaitingMicroBatches> fullest;
  for (const PipelineScheduleTurn& turn : turns) {
    now.part = turn.part;
    now.beside = turn.beside;
    if (turn.beside && turn.part.direction != Direction::kForward) std::swap(now.part, *now.beside);
    add(fullest, now);
    run(turn.part, now);
    if (turn.beside) run(*turn.beside, now);
  }
  return fullest;
}

std::int64_t trailing_weight_gradients(std::span<const PipelineWorkPart> parts) {
  std::int64_t weights = 0;
  for (const PipelineWorkPart& part : parts) {
    if (part.direction == Direction::kDataGradient) weights = 0;
    if (part.direction == Direction::kWeightGradient) ++weights;
  }
  return weights;
}

BackwardSplitting backward_form(const PipelineSchedule& schedule) {
  static const auto kForms = [] {
    constexpr std::int64_t kFew = 2;
    // Enough rounds for every schedule to reach its steady state.
    constexpr std::int64_t kRounds = 4;
    std::array<BackwardSplitting, std::size(kScheduleRows)> forms{};
    for (const auto& [kind, name, definition] : kScheduleRows) {
      if (definition->traits.found) {  // The search chooses the shorter form for each backward.
        forms[static_cast<std::size_t>(kind)] = BackwardSplitting::kBoth;
        continue;
      }
      const std::vector<PipelineWorkPart> parts =
          work_items_in_issue_order(definition->turns({kFew, 0, kRounds * kFew, kFew}));
      const auto any = [&](Direction direction) {
        return std::ranges::find(parts, direction, &PipelineWorkPart::direction) != parts.end();
      };
      const BackwardSplitting cut =
          any(Direction::kBackward) ? BackwardSplitting::kBoth : BackwardSplitting::kSplit;
      forms[static_cast<std::size_t>(kind)] =
          any(Direction::kDataGradient) ? cut : BackwardSplitting::kWhole;
    }
    return forms;
  }();
  return kForms[static_cast<std::size_t>(schedule.kind)];
}

}  // namespace stepwright::schedule
