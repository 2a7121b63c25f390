#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/price_table.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/step/layer.h"
#include "stepwright/tune/context_message_lower_bounds.h"

namespace stepwright::tune {

/// Numbers of layers of each class (layers of equal structure) before each layer of the model, for
/// sums over ranges of layers. Not shared between threads.
class LayerCountsByClass {
 public:
  /// Numbers of layers that a pipeline position holds, by class of layer.
  struct LayersHeldByClass {
    std::vector<double> own;
    /// Number of layers of the model before the position's first chunk, by class of layer.
    std::vector<double> before;
    bool head = false;  ///< True if the position has the language-model head.
  };

  explicit LayerCountsByClass(const model::ModelArchitecture& model);

  /// Returns the classes of layers in the order in which the model first has them, as in
  /// `ModelBlockCosts::layers`.
  [[nodiscard]] const std::vector<model::LayerClass>& layer_classes() const { return classes_; }
  [[nodiscard]] std::int64_t layers() const { return std::ssize(before_.front()) - 1; }
  /// Returns how many layers of the model belong to a class.
  [[nodiscard]] std::int64_t count(std::size_t which) const {
    return static_cast<std::int64_t>(before_[which].back());
  }
  /// Returns the sum over the layers `first` to `last` - 1 of a value that depends on the layer's
  /// class: `each[class]`.
  [[nodiscard]] double sum_over_layers(const std::vector<double>& each, std::int64_t first,
                                       std::int64_t last) const;
  /// Returns the positions that can be the slowest of a pipeline with even chunks: the one with the
  /// head, and one with a surplus of layers. The result is cached.
  [[nodiscard]] const std::vector<LayersHeldByClass>& potentially_slowest_even_positions(
      schedule::ModelChunkPlacementKind kind, std::int64_t positions, std::int64_t chunks) const;

 private:
  [[nodiscard]] LayersHeldByClass held(const schedule::ModelChunkPlacement& placement,
                                       std::int64_t position) const;

  std::vector<model::LayerClass> classes_;
  /// Number of layers of a class before a layer: [class][layer].
  std::vector<std::vector<double>> before_;
  mutable std::map<std::tuple<schedule::ModelChunkPlacementKind, std::int64_t, std::int64_t>,
                   std::vector<LayersHeldByClass>>
      slowest_;
};

/// Seconds of one layer, forward and backward of one micro-batch, with one kind of recomputation.
/// Vectors are indexed by class of layer.
struct LayerWorkSeconds {
  plan::LayerRecompute recompute;
  std::vector<double> seconds;
  /// Seconds of the operators on the compute stream alone; never above `seconds`.
  std::vector<double> stream_s;
  /// Seconds if the host issues every operator in time; never above `seconds`.
  std::vector<double> chain_s;
  /// Least activation bytes that a layer of any class keeps for its backward.
  double least_retained_bytes = 0;
};

/// Lower bound of the work of a set of plans: seconds of one micro-batch on one rank, forward and
/// backward, for each layer and the head.
struct LeastPlanWork {
  std::vector<LayerWorkSeconds> layers;
  /// Returns the seconds of a layer with a given recomputation, by class of layer; those of the
  /// first entry if there is none for this recomputation.
  [[nodiscard]] const std::vector<double>& layer_seconds_by_layer_class(
      const plan::LayerRecompute& recompute) const;
  /// Returns the least activation bytes that a layer keeps for its backward with a given
  /// recomputation; the least over all recomputations if there is no entry for it.
  [[nodiscard]] double min_retained_activation_bytes(const plan::LayerRecompute& recompute) const;
  double head_s = 0;
  /// Least activation bytes that a layer keeps for its backward, over all recomputations.
  double least_retained_bytes = 0;
  /// Number of parameters of all pipeline positions together, as one tensor and expert rank holds
  /// them.
  step::ModelBlockParameterCounts size;
  step::ModelBlockParameterCounts
      resting;  ///< Number of parameters of blocks that run no backward.
};

/// Returns the minimum of two works, member by member.
LeastPlanWork member_wise_minimum(LeastPlanWork a, const LeastPlanWork& b);

/// Least works of one job and cost model, each computed once, which any number of threads may
/// share. References to works stay valid when others are added.
class LeastPlanWorkCache {
 public:
  /// Cache key of a work: tensor degree, tokens of a rank, expert and expert-tensor degree (0:
  /// any), 1 if there is a single data rank, and the overlap.
  using Key = std::pair<std::array<std::int64_t, 5>, plan::OverlapFlags>;

  /// Returns the work of a key; `compute` makes it if it is not known yet.
  const LeastPlanWork& get(const Key& key, const std::function<LeastPlanWork()>& compute);

 private:
  struct Entry {
    std::once_flag once;
    LeastPlanWork work;
  };
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

/// Computes lower bounds of the work of plans before any block is priced. A layer's products, norms
/// and tensor messages depend only on the tensor degree and the tokens of a rank, expert work also
/// on the expert degrees, so few templates serve a whole search space. Assumes the cheaper of with
/// and without sequence parallelism and the fastest algorithms that plans may name. Not shared
/// between threads.
class WorkLowerBounds {
 public:
  /// `works`: known works, which may be shared with other objects for the same job and cost model.
  WorkLowerBounds(
      const plan::Job& job, const cost::CostModel& cost,
      std::shared_ptr<LeastPlanWorkCache> works = std::make_shared<LeastPlanWorkCache>());

  [[nodiscard]] const LayerCountsByClass& layers() const { return layers_; }

  /// Returns every overlap that any plan of the space may use, as far as lower bounds take it into
  /// account.
  [[nodiscard]] const plan::OverlapFlags& largest_overlap_of_space() const { return overlap_; }

  /// Returns the least work over all expert degrees of plans with the tensor degree, context degree
  /// and micro-batch of `plan`, which must be legal as far as blocks go. References stay valid.
  const LeastPlanWork& work_lower_bound_over_expert_degrees(const plan::Plan& plan);
  /// Returns the least work of plans with the tensor, context and expert degrees and micro-batch of
  /// `plan`.
  const LeastPlanWork& work_lower_bound_of_plan(const plan::Plan& plan) {
    return work_lower_bound_of_plan(plan, overlap_);
  }
  /// Returns the least work of plans with the degrees and micro-batch of `plan` and with at most
  /// the given overlap.
  const LeastPlanWork& work_lower_bound_of_plan(const plan::Plan& plan,
                                                const plan::OverlapFlags& overlap);
  /// Returns `work` with the time of the context-parallel messages of `plan`
  /// added.
  [[nodiscard]] LeastPlanWork add_context_parallel_message_time(const LeastPlanWork& work,
                                                                const plan::Plan& plan);

 private:
  using Key = LeastPlanWorkCache::Key;
  const LeastPlanWork& remembered(const Key& key, const plan::Plan& plan);
  [[nodiscard]] LeastPlanWork computed(const Key& key, const plan::Plan& plan);
  /// Returns the work of a plan's blocks; each member is the lesser one of with and without
  /// sequence parallelism.
  [[nodiscard]] LeastPlanWork least_block_work(plan::Plan plan, bool any_expert);
  [[nodiscard]] LeastPlanWork build(const plan::Plan& plan, bool any_expert);
  /// Seconds of a layer's compute stream, forward and backward, under three assumptions.
  struct LayerComputeSeconds {
    /// Seconds until the compute stream ends, waits for messages and for the host included.
    double seconds = 0;
    /// Seconds until the compute stream ends if the host issues every operator in time.
    double chain_s = 0;
    /// Sum of the seconds of operators on the compute stream, without any waits.
    double stream_s = 0;
  };
  /// A plan's choices on which the work of its blocks without experts depends.
  struct DenseWorkKey {
    std::int64_t tensor, context, micro_batch;
    bool sequence_parallel;
    plan::OverlapFlags overlap;
    auto operator<=>(const DenseWorkKey&) const = default;
  };
  /// Work and kept bytes of a layer of one class.
  struct LayerClassWork {
    LayerComputeSeconds none, whole;  ///< With nothing and with the whole layer recomputed.
    double least_retained_bytes = 0;
    /// Least bytes that the layer keeps with each recomputation of `kBoundedRecomputes`.
    std::array<double, 3> retained_bytes{};
  };
  /// Work of the blocks without experts, which all expert degrees share.
  struct DenseWork {
    std::map<model::LayerClass, LayerClassWork> layers;
    double head_s = 0;
  };
  const DenseWork& dense_work(const plan::Plan& plan, const step::StepBuildSettings& setting,
                              const simulate::Layouts& layouts);
  /// Adds a layer class to a work. `retained`: whether its kept bytes count for each recomputation.
  static void add_class(LeastPlanWork& work, const LayerClassWork& of_class, bool retained);
  [[nodiscard]] LayerClassWork class_work(const step::StepBuildSettings& setting,
                                          model::LayerClass which, const simulate::Layouts& layouts,
                                          bool any_expert);
  /// Forward templates of one layer: `none` recomputes nothing, `whole` recomputes the whole layer.
  struct LayerForwardTemplates {
    const step::OperatorTemplate* none;
    const step::OperatorTemplate* whole;
  };
  [[nodiscard]] std::array<double, 3> retained_bytes(step::StepBuildSettings setting,
                                                     model::LayerClass which,
                                                     const LayerForwardTemplates& known) const;
  [[nodiscard]] LayerComputeSeconds seconds(const step::ModelBlockTemplatePair& pair,
                                            const simulate::Layouts& layouts, bool any_expert);
  [[nodiscard]] double seconds(const step::Operator& op, const simulate::Layouts& layouts,
                               bool any_expert);

  [[nodiscard]] double host_launch_s(step::Operator op, bool any_expert) const;
  [[nodiscard]] double least_message_s(const step::Operator& op,
                                       const simulate::Layouts& layouts) const;

  const plan::Job& job_;
  const cost::CostModel& cost_;
  LayerCountsByClass layers_;
  /// Load of the busiest expert rank over the mean load, for which memory is reserved.
  double held_load_;
  /// True if lower bounds count the time that devices wait for hosts to issue operators; false if a
  /// plan of the space runs two strands (two micro-batches at a time).
  bool waits_;
  /// True if lower bounds count messages: all plans of equal degrees place their groups alike
  /// (usual rank order), and no plan runs two strands.
  bool messages_;
  /// Every overlap that any plan of the space may use; with all of them, no block takes longer than
  /// in any plan.
  plan::OverlapFlags overlap_;
  /// Algorithms that plans may choose for tensor-parallel messages.
  std::vector<plan::CollectiveAlgorithmChoices> of_tensor_;
  std::vector<plan::CollectiveAlgorithmChoices> of_experts_;
  cost::OperatorTimeCache prices_;
  ContextParallelMessageBounds context_;
  std::shared_ptr<LeastPlanWorkCache> works_;
  std::map<Key, const LeastPlanWork*> known_;  ///< Works of `works_` that were asked for.
  std::map<DenseWorkKey, DenseWork> dense_;
  std::vector<cost::OperatorTime> times_;  ///< Scratch memory: times of a template's operators.
  std::vector<double> ends_;
};

}  // namespace stepwright::tune
