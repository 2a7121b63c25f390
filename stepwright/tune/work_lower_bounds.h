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

/// Numbers of layers of each class (layers with equal operators) before each layer of the model,
/// from which the classes in any range of layers are counted. Not shared between threads.
class LayerCountsByClass {
 public:
  /// Numbers of layers that one pipeline rank holds, by class of layer (layers with equal
  /// operators).
  struct LayersHeldByClass {
    std::vector<double> own;
    /// Number of layers of the model before this pipeline rank's first chunk, by class of layer.
    std::vector<double> before;
    /// True if the pipeline rank has the language-model head.
    bool head = false;
  };

  explicit LayerCountsByClass(const model::ModelArchitecture& model);

  /// Returns the classes of layers (layers with equal operators) in the order in which the model
  /// first has them, as in `ModelBlockCosts::layers`.
  [[nodiscard]] const std::vector<model::LayerClass>& layer_classes() const { return classes_; }
  [[nodiscard]] std::int64_t layers() const { return std::ssize(before_.front()) - 1; }
  /// Returns how many layers of the model belong to a class of layers with equal operators.
  [[nodiscard]] std::int64_t count(std::size_t which) const {
    return static_cast<std::int64_t>(before_[which].back());
  }
  /// Returns the sum, over the layers `first` to `last` - 1, of a value that layers with equal
  /// operators share: `each[class]`.
  [[nodiscard]] double sum_over_layers(const std::vector<double>& each, std::int64_t first,
                                       std::int64_t last) const;
  /// Returns the pipeline ranks that can be the slowest if all chunks have equally many layers: the
  /// one with the head, and one with a surplus of layers. The result is cached.
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

/// Seconds of one layer, forward and backward of one micro-batch, with one kind of recomputation;
/// each vector has an entry for each class of layers (layers with equal operators).
struct LayerWorkSeconds {
  plan::LayerRecompute recompute;
  std::vector<double> seconds;
  /// Seconds of the layer's operators on the compute stream alone, by class of layer; never above
  /// `seconds`.
  std::vector<double> stream_s;
  /// Seconds of the layer if the host issues every operator in time, by class of layer; never above
  /// `seconds`.
  std::vector<double> chain_s;
  /// Least activation bytes that a layer of any class keeps for its backward.
  double least_retained_bytes = 0;
};

/// Lower bound of the work of a set of plans: seconds of one micro-batch on one rank, forward and
/// backward, for each layer and the head.
struct LeastPlanWork {
  std::vector<LayerWorkSeconds> layers;
  /// Returns the seconds of one layer with a given recomputation, by class of layer (layers with
  /// equal operators); those of the first entry of `layers` if none has this recomputation.
  [[nodiscard]] const std::vector<double>& layer_seconds_by_layer_class(
      const plan::LayerRecompute& recompute) const;
  /// Returns the least activation bytes that a layer keeps for its backward with a given
  /// recomputation; the least over all recomputations if there is no entry for it.
  [[nodiscard]] double min_retained_activation_bytes(const plan::LayerRecompute& recompute) const;
  double head_s = 0;
  /// Least activation bytes that a layer keeps for its backward, over all recomputations.
  double least_retained_bytes = 0;
  /// Numbers of parameters of all pipeline ranks together, as one tensor and expert rank holds
  /// them.
  step::ModelBlockParameterCounts size;
  /// Numbers of parameters of the blocks without a backward: they and all blocks before them are
  /// frozen.
  step::ModelBlockParameterCounts resting;
};

/// Returns the smaller one of two lower bounds of work, member by member: a bound for both sets of
/// plans.
LeastPlanWork member_wise_minimum(LeastPlanWork a, const LeastPlanWork& b);

/// Cache of lower bounds of work for one job and cost model, which any number of threads may share.
/// References to its entries stay valid when others are added.
class LeastPlanWorkCache {
 public:
  /// Cache key of a lower bound of work: tensor degree, tokens of a rank, expert and expert-tensor
  /// degree (0: any), 1 if there is a single data-parallel rank, and the overlap.
  using Key = std::pair<std::array<std::int64_t, 5>, plan::OverlapFlags>;

  /// Returns the lower bound of work with this key; `compute` makes it if the cache lacks it.
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
  /// Makes an estimator for a job and its search space. `works`: cache of lower bounds of work,
  /// which may be shared with other objects for the same job and cost model.
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
  /// Returns the lower bound `work` with the time of the context-parallel messages of `plan` added.
  [[nodiscard]] LeastPlanWork add_context_parallel_message_time(const LeastPlanWork& work,
                                                                const plan::Plan& plan);

 private:
  using Key = LeastPlanWorkCache::Key;
  const LeastPlanWork& remembered(const Key& key, const plan::Plan& plan);
  [[nodiscard]] LeastPlanWork computed(const Key& key, const plan::Plan& plan);
  /// Returns a lower bound of the work of a plan's blocks; each member is the smaller one of with
  /// and without sequence parallelism.
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
  /// Lower bounds for one layer of a class (layers with equal operators): compute seconds, and
  /// activation bytes kept for the backward.
  struct LayerClassWork {
    /// Compute seconds of the layer if nothing, or the whole layer, is recomputed.
    LayerComputeSeconds none, whole;
    double least_retained_bytes = 0;
    /// Least activation bytes that the layer keeps for its backward, with each recomputation of
    /// `kBoundedRecomputes`.
    std::array<double, 3> retained_bytes{};
  };
  /// Lower bounds of the work of the blocks without experts, which all expert degrees share.
  struct DenseWork {
    std::map<model::LayerClass, LayerClassWork> layers;
    double head_s = 0;
  };
  const DenseWork& dense_work(const plan::Plan& plan, const step::StepBuildSettings& setting,
                              const simulate::Layouts& layouts);
  /// Adds one class of layers (layers with equal operators) to a lower bound of work. `retained`:
  /// whether the bytes that it keeps count for each recomputation.
  static void add_class(LeastPlanWork& work, const LayerClassWork& of_class, bool retained);
  [[nodiscard]] LayerClassWork class_work(const step::StepBuildSettings& setting,
                                          model::LayerClass which, const simulate::Layouts& layouts,
                                          bool any_expert);
  /// Operators of the forward of one layer: `none` recomputes nothing later, `whole` the whole
  /// layer.
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
  /// Lower bounds in the shared cache `works_` that this object has already asked for, by key.
  std::map<Key, const LeastPlanWork*> known_;
  std::map<DenseWorkKey, DenseWork> dense_;
  /// Scratch memory: times of the operators of one layer's forward or backward.
  std::vector<cost::OperatorTime> times_;
  std::vector<double> ends_;
};

}  // namespace stepwright::tune
