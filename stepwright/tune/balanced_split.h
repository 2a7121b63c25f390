#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "stepwright/tune/stage_choices.h"
#include "stepwright/tune/work_floor.h"

namespace stepwright::tune {

/// Layers of each chunk, in model order, so that the slowest position of the pipeline has as little
/// work as whole layers allow, the head with it; within a position its chunks have about as much. A
/// chunk has at least half the layers of the even split. Empty where that gains nothing.
std::vector<std::int64_t> balanced_split(const Work& work, const LayerCounts& layers,
                                         const schedule::Schedule& schedule,
                                         const plan::Recompute& recompute, std::int64_t pipeline);

/// The plan with a balanced split by the rough work of its kind; nothing where that is the even
/// one, or the plan lists layers.
std::optional<plan::Plan> with_balanced_split(WorkFloor& work, const plan::Plan& plan);

/// Stage choices with their layers dealt out by the rough work of plans (`WorkFloor::rough`): known
/// before anything has a price, and the same whoever asks. Not shared between threads.
class BalancedChoices {
 public:
  /// `work` must outlive it.
  explicit BalancedChoices(WorkFloor& work) : work_(work) {}

  /// Visits the choice and, where it balances and that gains something, the same with its layers
  /// dealt out. Both stay valid, as long as `choice` does. Of `plan` count the degrees and the
  /// micro-batch.
  template <class Visit>
  void each(const StageChoice& choice, const plan::Plan& plan, Visit&& visit) {
    visit(choice);
    balanced(choice, plan, visit);
  }
  /// Visits the second of these alone.
  template <class Visit>
  void balanced(const StageChoice& choice, const plan::Plan& plan, Visit&& visit) {
    if (const StageChoice* balanced = of(choice, plan)) visit(*balanced);
  }

 private:
  /// Null where there is none.
  const StageChoice* of(const StageChoice& choice, const plan::Plan& plan);
  const std::vector<std::int64_t>& split(const Work& work, const StageChoice& choice,
                                         std::int64_t pipeline);
  /// Rough work, pipeline degree, placement, chunks of a position, whether layers run in pairs,
  /// recomputation: schedules that place alike share their splits.
  using SplitKey = std::tuple<const Work*, std::int64_t, schedule::PlacementKind, std::int64_t,
                              bool, plan::Recompute>;
  /// The facts on which a choice's split depends: rough work and pipeline degree among them.
  struct Key {
    const StageChoice* choice;
    const Work* work;
    std::int64_t pipeline;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  WorkFloor& work_;
  std::map<SplitKey, std::vector<std::int64_t>> splits_;
  std::unordered_map<Key, std::optional<StageChoice>, Hash> known_;
};

}  // namespace stepwright::tune
