#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "stepwright/tune/stage_choices.h"
#include "stepwright/tune/work_lower_bounds.h"

namespace stepwright::tune {

/// Returns the number of layers of each chunk of the model, in model order, chosen so that the
/// slowest pipeline rank (counting the language-model head) has as little work as whole layers
/// allow. A chunk keeps at least half the layers of the even split. Empty if this gains nothing
/// over the even split.
std::vector<std::int64_t> balanced_layer_split(const LeastPlanWork& work,
                                               const LayerCountsByClass& layers,
                                               const schedule::PipelineSchedule& schedule,
                                               const plan::ActivationRecomputation& recompute,
                                               std::int64_t pipeline);

/// Returns the plan with its layers split so that pipeline ranks have about equal work; nullopt if
/// that is the even split, or if the plan lists its layers itself.
std::optional<plan::Plan> with_balanced_layers(WorkLowerBounds& work, const plan::Plan& plan);

/// Makes variants of stage choices (schedule, recomputation, layers) whose layers are split so that
/// pipeline ranks have equal work, as estimated by `WorkLowerBounds`. The estimate is known before
/// any block is priced, so the split does not depend on which part of the search asks. Not shared
/// between threads.
class BalancedLayerSplitter {
 public:
  /// `work` estimates the work of layers; it must outlive this object.
  explicit BalancedLayerSplitter(WorkLowerBounds& work) : work_(work) {}

  /// Calls `visit` with `choice`, and then with the same choice with layers split so that pipeline
  /// ranks have equal work, if the choice allows that and it gains time. Both stay valid as long as
  /// `choice` does. Of `plan`, only degrees and micro-batch are read.
  template <class VisitorCallback>
  void each(const PipelineStageChoice& choice, const plan::Plan& plan, VisitorCallback&& visit) {
    visit(choice);
    balanced(choice, plan, visit);
  }
  /// Calls `visit` with the variant of a stage choice whose layers are split so that pipeline ranks
  /// have equal work; not at all if there is no such variant.
  template <class VisitorCallback>
  void balanced(const PipelineStageChoice& choice, const plan::Plan& plan,
                VisitorCallback&& visit) {
    if (const PipelineStageChoice* balanced = balanced_variant_of(choice, plan)) visit(*balanced);
  }

 private:
  /// Returns the variant of a stage choice with balanced layers; null if balancing gains nothing.
  const PipelineStageChoice* balanced_variant_of(const PipelineStageChoice& choice,
                                                 const plan::Plan& plan);
  const std::vector<std::int64_t>& split(const LeastPlanWork& work,
                                         const PipelineStageChoice& choice, std::int64_t pipeline);
  /// Cache key of a split of layers: work of the layers, pipeline degree, placement of chunks,
  /// chunks of a pipeline rank, whether layers run in pairs, recomputation. Schedules with equal
  /// placement share splits.
  using SplitKey = std::tuple<const LeastPlanWork*, std::int64_t, schedule::ModelChunkPlacementKind,
                              std::int64_t, bool, plan::ActivationRecomputation>;
  /// Cache key of a stage choice with layers split so that pipeline ranks have equal work:
  /// everything on which the split depends.
  struct BalancedLayerSplitKey {
    const PipelineStageChoice* choice;
    const LeastPlanWork* work;
    std::int64_t pipeline;
    bool operator==(const BalancedLayerSplitKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const BalancedLayerSplitKey& key) const;
  };
  WorkLowerBounds& work_;
  std::map<SplitKey, std::vector<std::int64_t>> splits_;
  std::unordered_map<BalancedLayerSplitKey, std::optional<PipelineStageChoice>, Hash> known_;
};

}  // namespace stepwright::tune
