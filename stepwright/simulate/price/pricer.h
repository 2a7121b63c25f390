#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/step_load.h"
#include "stepwright/simulate/price/uneven.h"
#include "stepwright/step/setting.h"

namespace stepwright::simulate {

/// Peak bytes over some moments of a step (`any`), and over only those moments at which a block
/// uses its parameters (`using_parameters`), when gathered parameters take memory, too.
struct PeakBytes {
  double any = 0;
  /// Peak bytes while a block uses its parameters; 0: no block uses any.
  double using_parameters = 0;

  /// Raises both peaks to those of `other`, each with `beside_bytes` added.
  void raise_peak_bytes(const PeakBytes& other, double beside_bytes) {
    any = std::max(any, other.any + beside_bytes);
    if (other.using_parameters <= 0) return;
    using_parameters = std::max(using_parameters, other.using_parameters + beside_bytes);
  }
};

/// Seconds and bytes of one template (the operators of a layer, embedding or head in one direction)
/// when it runs alone.
struct ModelBlockPassCost {
  /// Seconds when the template runs alone, including the slow-down among its own operators.
  double seconds = 0;
  /// Lower bound of the seconds that the template adds to its compute stream in a step
  /// (`simulate/price/block_time_lower_bound.h`).
  double floor_s = 0;
  /// Seconds of the computation in the template, waits for the host included.
  double compute_s = 0;
  /// Seconds of the template's computation if it never waits for the host.
  double kernels_s = 0;
  /// Seconds of all operators on the template's compute stream, messages on it included.
  double stream_s = 0;
  /// Seconds in which the template's compute stream cannot compute, since it waits for messages or
  /// runs them.
  double waiting_s = 0;
  /// Seconds of the template if all its operators ran one after the other.
  double serial_s = 0;
  /// Growth of the template's seconds with the number of tokens: extra seconds over the relative
  /// increase of tokens. Set only if micro-batches have unequal lengths.
  double template_growth_s = 0;
  /// Growth of the template's seconds with the number of query-key pairs: extra seconds over the
  /// relative increase of pairs. Set only with documents.
  double pairs_growth_s = 0;
  /// Seconds of the template's messages, by link class.
  std::array<double, cost::kLinkClasses> busy_s{};
  double retained_bytes = 0;  ///< Activation bytes kept in device memory from forward to backward.
  /// Activation bytes kept in host memory from forward to backward.
  double on_host_bytes = 0;
  PeakBytes peak;  ///< Peak bytes of all live tensors while the template runs.

  /// Adds to this cost the seconds and bytes of `count` repetitions of `other`; of peaks the larger
  /// one is kept.
  void add(const ModelBlockPassCost& other, double count);
  /// Lowers each member of this cost to that of `other`, where this one is larger.
  void lower_to_smaller_costs(const ModelBlockPassCost& other);
  /// Adjusts the lower bounds of a template that runs beside the work of a second micro-batch: only
  /// its kernels count, since that work may fill its waits.
  void lower_bounds_for_shared_stream();
};

struct BlockPairCost {
  ModelBlockPassCost forward, backward;
};

/// Cost of one pass over the part of the vocabulary that a pipeline rank holds. `cost`: until its
/// compute stream ends; `message_s`: how many seconds longer its message takes.
struct VocabularyPassCost {
  schedule::Direction direction{};
  ModelBlockPassCost cost;
  double message_s = 0;
  /// True if the vocabulary pass computes or sends something, even in zero time.
  bool is_there = false;
};

/// Cost of a backward that is split into data gradients and weight gradients
/// (`step/split_backward.h`).
struct SplitBackwardCost {
  ModelBlockPassCost data, weight;
};

/// Seconds and bytes of all blocks of a model (layers, embedding, head) for one choice of
/// everything on which blocks depend (tensor, context and expert ranks, micro-batch size, where
/// groups lie), whatever the pipeline and the sharding of model states.
struct ModelBlockCosts {
  /// Seconds and bytes of one class of layers (layers with equal operators) with one kind of
  /// recomputation.
  struct RecomputedLayerCost {
    BlockPairCost cost;
    /// Cost of the layer's backward split into data and weight gradients; null if no schedule
    /// splits it.
    std::unique_ptr<const SplitBackwardCost> cut;
    /// For each class of layers: cost of this layer's forward beside the backward of a layer of
    /// that class, with equal recomputation.
    schedule::Beside<ModelBlockPassCost> pairs;

    /// Returns the costs of data and weight gradients; zero costs if the backward is not split.
    [[nodiscard]] const SplitBackwardCost& split_backward_costs() const;
    /// Returns the layer's cost in one direction of the backward: data gradients, weight gradients,
    /// or the whole backward.
    [[nodiscard]] const ModelBlockPassCost& backward_cost_of_direction(
        schedule::Direction direction) const;
    /// Returns the cost of data and weight gradients together; if the schedule splits only some
    /// backwards, the minimum of a whole and a split one.
    [[nodiscard]] ModelBlockPassCost backward(schedule::BackwardSplitting form) const;
  };
  struct Layer {
    model::LayerClass which;
    step::ModelBlockParameterCounts size;
    /// Costs of the layer for each kind of recomputation, indexed by
    /// `ModelBlockCosts::cost_index_of_recomputation`; null: not computed.
    std::vector<std::unique_ptr<RecomputedLayerCost>> with;

    /// Returns the cost of the layer with one kind of recomputation, by its index
    /// `ModelBlockCosts::cost_index_of_recomputation`; zero costs if it was not computed.
    [[nodiscard]] const RecomputedLayerCost& cost_at_place(std::size_t place) const;
  };
  std::vector<Layer> layers;
  /// Number of multi-token prediction layers; they are equal, except that the first may have its
  /// own embedding table.
  std::int64_t multi_tokens = 0;
  Layer multi_token;
  /// Parameter counts of the first multi-token prediction layer if it has its own copy of the
  /// embedding table.
  step::ModelBlockParameterCounts split_multi_token_size;
  /// Sets of recomputed modules that are priced in addition to the three common ones: none, the
  /// core of attention, and everything.
  std::vector<plan::RecomputeModuleSet> listed;
  /// Returns the index of a kind of recomputation in `Layer::with`, the list of a layer's costs.
  [[nodiscard]] std::size_t cost_index_of_recomputation(
      const plan::LayerRecompute& recompute) const;
  BlockPairCost embedding;
  /// Cost of the embedding if the layers of the model's encoder are recomputed.
  BlockPairCost whole_embedding;
  [[nodiscard]] const BlockPairCost& embedding_with(
      const plan::ActivationRecomputation& recompute) const {
    return plan::parts_recomputed_in_layers(recompute).whole ? whole_embedding : embedding;
  }
  BlockPairCost head;  ///< Cost of the head, equal for a tied and an untied table.
  /// Cost of the head's weight gradients, if they are deferred until all backwards of the pipeline
  /// rank have ended; each backward then keeps `retained_bytes`. 0: they are not deferred.
  ModelBlockPassCost head_gradient;
  /// Bytes of one message of activations to the neighbouring pipeline rank.
  double sent_bytes = 0;
  /// Seconds that the receiver of an activation message computes before it can use the message.
  double arrival_s = 0;
  /// Cost of one pipeline rank's part of the embedding or the head, if pipeline ranks share the
  /// vocabulary. Index 0: ranks inside the pipeline; 1: ranks at the ends of the model.
  struct VocabularyPartCost {
    BlockPairCost cost;
    step::ModelBlockParameterCounts size;
    /// Costs of passes over the vocabulary, which replace `cost` in schedules in which pipeline
    /// ranks run them on their own.
    std::vector<VocabularyPassCost> passes;
  };
  std::array<VocabularyPartCost, 2> embedding_parts, head_parts;
  step::ModelBlockParameterCounts embedding_size;
  /// Parameter counts of an untied head, or of a tied head on the rank that also holds the
  /// embedding table.
  step::ModelBlockParameterCounts head_size;
  /// Parameter counts of a tied head that has its own copy of the embedding table.
  step::ModelBlockParameterCounts split_head_size;
};

/// Smallest and largest parameter counts of a block (layer, embedding, head) among several, for
/// each kind of parameter separately; 0 without blocks.
struct ModelBlockParameterExtremes {
  step::ModelBlockParameterCounts least;
  step::ModelBlockParameterCounts most;
  bool any = false;

  void keep(const step::ModelBlockParameterCounts& block) {
    if (!any) least = block;
    any = true;
    for (const auto part :
         {&step::ModelBlockParameterCounts::dense, &step::ModelBlockParameterCounts::expert,
          &step::ModelBlockParameterCounts::borrowed,
          &step::ModelBlockParameterCounts::frozen_dense,
          &step::ModelBlockParameterCounts::frozen_expert,
          &step::ModelBlockParameterCounts::frozen_borrowed}) {
      least.*part = std::min(least.*part, block.*part);
      most.*part = std::max(most.*part, block.*part);
    }
  }
  auto operator<=>(const ModelBlockParameterExtremes&) const = default;
};

/// Blocks (layers, embedding) that run no backward, since neither they nor any block below them
/// train parameters.
struct FrozenModelBlocks {
  step::ModelBlockParameterCounts size;
  std::int64_t units = 0;
  std::int64_t routed_units = 0;  ///< Number of frozen blocks with routed (expert) parameters.

  void add(const step::ModelBlockParameterCounts& block, std::int64_t count) {
    size.add(block, count);
    units += count;
    if (block.frozen_expert > 0) routed_units += count;
  }
  auto operator<=>(const FrozenModelBlocks&) const = default;
};

/// Seconds and bytes of one pipeline rank, or of several equal ones, without the data-parallel
/// sharding of model states.
struct PipelinePositionCost {
  std::int64_t position = 0;  ///< Index of the first of the equal pipeline ranks.
  std::int64_t count = 1;     ///< Number of equal pipeline ranks that these costs stand for.
  /// Cost of the forward of one micro-batch through all model chunks of the pipeline rank.
  ModelBlockPassCost forward;
  /// Cost of the backward (data and weight gradients) of one micro-batch through all chunks.
  ModelBlockPassCost backward;
  /// Lower bound of the seconds from the start of the pipeline to the first forward of the last of
  /// the equal pipeline ranks.
  double fill_s = 0;
  /// Lower bound of the seconds from the last backward on the last of the equal pipeline ranks to
  /// the end of the whole pipeline.
  double drain_s = 0;
  /// Lower bound of the seconds from the last backward on the first of the equal pipeline ranks to
  /// the end of the whole pipeline.
  double first_drain_s = 0;
  /// Load of the last of the equal pipeline ranks, without data-parallel messages.
  PipelinePositionStepLoad load;
  /// For each chunk, its share of the pipeline rank's parameters: the smaller one of its shares of
  /// dense and of routed (expert) parameters.
  std::vector<double> chunk_shares;
  /// Peak activation bytes: activations kept for backwards, and the largest transient beside them.
  PeakBytes activations;
  /// Lower bound of the peak bytes of activations that are kept in host memory for one rank.
  double on_host_bytes = 0;
  step::ModelBlockParameterCounts size;
  /// `deferred_size`: parameters whose weight gradients wait at the memory peak because backwards
  /// are split into data and weight gradients, counted once per waiting micro-batch. `cut_size`:
  /// parameters of all blocks whose backward is so split.
  step::ModelBlockParameterCounts deferred_size;
  step::ModelBlockParameterCounts cut_size;
  /// Cost of the head's deferred weight gradients for one micro-batch (0: none). Only its `peak`
  /// covers all micro-batches: the rank's peak while all of them wait for these gradients.
  ModelBlockPassCost head_gradient;
  /// Parameter counts of a head whose weight gradients are deferred; 0: none are deferred.
  step::ModelBlockParameterCounts head_size;
  /// Number of blocks (layers, embedding, head) of the pipeline rank that have parameters.
  std::int64_t units = 0;
  /// Number of blocks of the pipeline rank that train some of their parameters.
  std::int64_t trained_units = 0;
  /// Smallest and largest parameter counts of the pipeline rank's blocks (layers, embedding, head).
  ModelBlockParameterExtremes blocks;
  /// Number of blocks of the pipeline rank that have routed (expert) parameters.
  std::int64_t routed_units = 0;
  /// Number of expert routers whose load-balancing biases are corrected after a step.
  std::int64_t corrected = 0;
  /// Frozen blocks of the pipeline rank (layers, embedding) that run no backward.
  FrozenModelBlocks resting;
  /// Number of elements of an embedding table that is tied to the head and whose gradients are
  /// added at the end of a step; 0: none.
  std::int64_t tied_table = 0;
  /// True if the pipeline rank holds the language-model head and computes the loss.
  bool head = false;
  /// True if forwards run beside backwards of another micro-batch: lower bounds then hold only for
  /// the sum of both.
  bool strands = false;
};

/// Seconds and bytes of a plan's pipeline without data-parallel messages. `floor_s`: lower bound of
/// the seconds with any sharding; `memory_floor_bytes`: lower bound of the bytes with any sharding.
struct PipelineCost {
  /// Costs of the pipeline's ranks, in pipeline order; equal neighbours are stored once.
  std::vector<PipelinePositionCost> stages;
  double seconds = 0;  ///< Seconds of forward and backward over all micro-batches.
  double floor_s = 0;
  double memory_floor_bytes = 0;
  double send_s = 0;
  /// Share of one micro-batch's time on the other pipeline ranks that filling the pipeline costs:
  /// 1 / chunks per rank.
  double fill_share = 1;
  std::int64_t micro_batches = 1;
  /// Lower bounds of the seconds of schedule entries (forwards, backwards); set only if entries are
  /// simulated for a tighter bound.
  schedule::PipelineScheduleSeconds floors;
};

/// How much of a pipeline's price comes from simulating its schedule, even if closed forms exist.
enum class SimulationExtent : std::uint8_t {
  kNothing,
  /// Simulates the pipeline for its lower bound only, including the messages after the last turns.
  kFloors,
  kAll  ///< Simulates the pipeline for its lower bound and its seconds.
};

/// Time and memory of a plan by closed forms, computed from the costs of its blocks.
/// `lower_bound_s` and `upper_bound_s` enclose the simulated step time.
struct PlanPrice {
  double seconds = 0;
  double lower_bound_s = 0;
  double upper_bound_s = 0;
  /// Effects of micro-batches of unequal work on the step time: expected waits and spread;
  /// `seconds` includes the waits.
  UnevenMicroBatchWaits uneven;
  /// Bytes that the fullest stage needs on a device, with the memory of processes and with experts
  /// loaded as `memory::assumed_expert_load` says. Never above the bytes computed from the step
  /// program (`MemoryReport::device_bytes_needed_by_plan`), so a plan that does not fit by this
  /// figure does not fit. Leaves out parameters gathered ahead and gradients under reduction, so it
  /// may be too small: over random plans by 2 % in the median, 15 % in one of twenty, at most 55 %.
  /// Replaced by the exact figure before it is shown (`simulate_plan`).
  double memory_bytes = 0;
  /// Bytes of the fullest host's memory; never above those computed from the step program.
  double host_bytes = 0;
};

/// Activation bytes of one model chunk for one micro-batch: those kept for the backward, and the
/// most bytes (`beside`) that its forward or backward needs in addition.
struct ModelChunkActivationBytes {
  /// Bytes kept from the forward to the backward or, if that is split, to the data gradients.
  double forward = 0;
  double weight = 0;  ///< Bytes kept from the data gradients to the weight gradients.
  PeakBytes beside;
};

/// Seconds and bytes of a plan's model chunks for one micro-batch, by pipeline rank and chunk,
/// whatever the order of the schedule.
struct ModelChunkSecondsAndBytes {
  /// Seconds of each chunk's forward and backward, for split and for whole backwards.
  schedule::PipelineScheduleSeconds seconds;
  std::vector<std::vector<ModelChunkActivationBytes>> bytes;
  /// For each pipeline rank, the activation bytes that its chunks together may keep in device
  /// memory, as priced.
  std::vector<double> room_bytes;
};

struct ShardingMessageCost;
struct SharedPricerCaches;

/// Computes closed-form prices of plans of one job, with caches. Not shared between threads, but
/// pricers of one job and cost model may share a store. Pricing has three steps (`blocks`,
/// `pipeline_cost_of_plan`, `finish`), so that a search can share the results of the first ones;
/// `price` does all three.
class PlanPricer {
 public:
  PlanPricer(const plan::Job& job, const cost::CostModel& cost);
  PlanPricer(const plan::Job& job, const cost::CostModel& cost, const SharedPricerCaches& shared);
  ~PlanPricer();
  PlanPricer(const PlanPricer&) = delete;
  PlanPricer& operator=(const PlanPricer&) = delete;

  /// Returns the costs of the plan's blocks. They depend on parallel.{tensor, context, expert,
  /// expert_tensor}, micro_batch, sequence_parallel, tensor_input, context_kind, overlap of blocks
  /// (`OverlapFlagTraits::of_blocks`), collectives.{tensor, context, expert}, rank_order, and
  /// recompute (each kind is added when it is first asked for); with a rank order other than the
  /// default also on parallel.{pipeline, data}. The reference stays valid as long as the pricer.
  const ModelBlockCosts& blocks(const plan::Plan& plan);
  /// Returns the costs of a plan's pipeline, which also depend on parallel.{pipeline, data},
  /// schedule, layers and overlap.pipeline. `played`: results (times, bounds) for which every
  /// forward and backward is simulated. If chunks differ, this is nearer to the full simulation
  /// than closed forms, but takes a thousand times as long.
  [[nodiscard]] PipelineCost pipeline_cost_of_plan(
      const ModelBlockCosts& blocks, const plan::Plan& plan,
      SimulationExtent played = SimulationExtent::kNothing);
  /// Returns the full price of a plan: adds to the pipeline's costs those of sharding,
  /// accumulation, buckets, data-parallel algorithms, and overlap of gradients and parameters.
  [[nodiscard]] PlanPrice finish(const PipelineCost& pipeline, const plan::Plan& plan);
  /// Returns the price of a plan without memory. `messages`: for each of the pipeline's distinct
  /// ranks, in order, the seconds of its data-parallel messages and update.
  [[nodiscard]] PlanPrice plan_price_without_memory(const PipelineCost& pipeline,
                                                    const plan::Plan& plan,
                                                    std::span<const ShardingMessageCost> messages);
  /// Returns the seconds that a pipeline rank needs at the end of a step: small reductions,
  /// gradient norm and optimizer.
  [[nodiscard]] double step_end_seconds_of_position(const plan::Plan& plan,
                                                    const PipelinePositionCost& stage);

  PlanPrice price(const plan::Plan& plan) { return played_price(plan, SimulationExtent::kNothing); }
  PlanPrice played_price(const plan::Plan& plan, SimulationExtent played = SimulationExtent::kAll);
  /// Returns the seconds and bytes of a plan's model chunks, from which an order of forwards and
  /// backwards can be searched.
  [[nodiscard]] ModelChunkSecondsAndBytes chunk_seconds_and_bytes_of_plan(const plan::Plan& plan);

  [[nodiscard]] const cost::OverlapSlowdownFactors& contention() const {
    return cost_.contention();
  }

 private:
  struct Store;
  struct Passes;
  const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts(const plan::Plan& plan);
  const ModelBlockCosts& scheduled_blocks(const plan::Plan& plan);
  /// True if gradients are created only after the memory peak of a step, because the step has a
  /// single backward.
  [[nodiscard]] bool gradients_are_created_after_memory_peak(const plan::Plan& plan,
                                                             std::int64_t micro_batches) const;
  [[nodiscard]] Passes passes(const PipelinePositionCost& stage, const PipelineCost& pipeline,
                              const ShardingMessageCost& data, const plan::Plan& plan) const;
  void add_ends(Passes& out, const PipelinePositionCost& stage, const PipelineCost& pipeline,
                const ShardingMessageCost& data, const plan::Plan& plan) const;
  const plan::Job& job_;
  const cost::CostModel& cost_;
  std::unique_ptr<Store> store_;
};

}  // namespace stepwright::simulate
