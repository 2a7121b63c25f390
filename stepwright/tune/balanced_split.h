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

/// Returns the layers of each chunk, in model order, so that the slowest position of the pipeline
/// (the language-model head counts) has as little work as whole layers allow; the chunks of one
/// position have about equal work. A chunk has at least half the layers of the even split. Empty
/// where this split gains nothing over the even one.
std::vector<std::int64_t> balanced_split(const Work& work, const LayerCounts& layers,
                                         const schedule::Schedule& schedule,
                                         const plan::Recompute& recompute, std::int64_t pipeline);

/// Returns the plan with layers balanced by the rough work of its layer kinds; nullopt where that
/// split is the even one, or the plan lists layers itself.
std::optional<plan::Plan> with_balanced_split(WorkFloor& work, const plan::Plan& plan);

/// Makes variants of stage choices whose layers are balanced by the rough work of plans
/// (`WorkFloor::rough`). The work is known before any block is priced, so that the split does not
/// depend on which search unit asks. Not shared between threads.
class BalancedChoices {
 public:
  /// `work` must outlive it.
  explicit BalancedChoices(WorkFloor& work) : work_(work) {}

  /// Visits the choice and, where it asks for balanced layers and balancing gains something, also
  /// the choice with balanced layers. Both stay valid as long as `choice` does. `plan`: only its
  /// degrees and micro-batch are read.
  template <class Visit>
  void each(const StageChoice& choice, const plan::Plan& plan, Visit&& visit) {
    visit(choice);
    balanced(choice, plan, visit);
  }
  /// Visits only the choice with balanced layers, if there is one.
  template <class Visit>
  void balanced(const StageChoice& choice, const plan::Plan& plan, Visit&& visit) {
    if (const StageChoice* balanced = of(choice, plan)) visit(*balanced);
  }

 private:
  /// Returns the choice with balanced layers; null where balancing gains nothing.
  const StageChoice* of(const StageChoice& choice, const plan::Plan& plan);
  const std::vector<std::int64_t>& split(const Work& work, const StageChoice& choice,
                                         std::int64_t pipeline);
  /// Key of a split: rough work, pipeline degree, placement, chunks of a position, whether layers
  /// run in pairs, recomputation. Schedules with the same placement share splits.
  using SplitKey = std::tuple<const Work*, std::int64_t, schedule::PlacementKind, std::int64_t,
                              bool, plan::Recompute>;
  /// Cache key: the facts on which a choice's balanced split depends.
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
