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

/// Peak bytes over some moments (`any`), and over those moments at which a block uses its
/// parameters (`using_parameters`): where parameters are gathered, their bytes are added to the
/// second.
struct PeakBytes {
  double any = 0;
  double using_parameters = 0;  ///< Peak while parameters are in use; 0: nothing uses parameters.

  /// Raises both peaks to those of `other` plus `beside_bytes`.
  void keep(const PeakBytes& other, double beside_bytes) {
    any = std::max(any, other.any + beside_bytes);
    if (other.using_parameters <= 0) return;
    using_parameters = std::max(using_parameters, other.using_parameters + beside_bytes);
  }
};

/// The cost of one template: its time alone on its streams, and its memory.
struct BlockCost {
  double seconds = 0;  ///< Seconds when it runs alone, with the contention among its own operators.
  /// Lower bound of the time that it takes of its compute stream in a step
  /// (`simulate/price/block_floor.h`).
  double floor_s = 0;
  double compute_s = 0;  ///< Seconds of the computation in the template.
  double kernels_s = 0;  ///< Seconds of its computation if it never waited for the host.
  double stream_s = 0;   ///< Seconds of everything on the template's compute stream.
  double waiting_s = 0;  ///< Seconds in which its compute stream can compute nothing.
  double serial_s = 0;   ///< Seconds of all its operators one after the other.
  /// Growth of its seconds with tokens: extra seconds over the relative increase of tokens; set
  /// where micro-batches have unequal lengths.
  double growth_s = 0;
  /// Growth of its seconds with query-key pairs: extra seconds over the relative increase of pairs;
  /// set with documents.
  double pairs_growth_s = 0;
  std::array<double, cost::kLinkClasses> busy_s{};  ///< Seconds of messages by link class.
  double retained_bytes = 0;                        ///< Bytes kept from forward to backward.
  /// Bytes kept from forward to backward in host memory.
  double on_host_bytes = 0;
  PeakBytes peak;  ///< Bytes of all tensors alive at the template's largest moment.

  /// Adds `count` repetitions; peaks take the larger.
  void add(const BlockCost& other, double count);
  /// Lowers each member to the lesser of both.
  void keep_least(const BlockCost& other);
  /// Lowers the floors for a template that runs beside another strand: only its kernels count,
  /// since the strand may fill its waits, also waits for the host.
  void share_stream();
};

struct BlockPairCost {
  BlockCost forward, backward;
};

/// A pass over the vocabulary. `cost`: until its compute stream has ended; `message_s`: how much
/// longer the message takes that the pass leaves under way.
struct PassCost {
  schedule::Direction direction{};
  BlockCost cost;
  double message_s = 0;
  bool is_there = false;  ///< True if the pass computes or sends something, even in zero time.
};

/// A backward cut in two (`step/split_backward.h`).
struct SplitCost {
  BlockCost data, weight;
};

/// The costs of all blocks for one setting of everything that blocks depend on (sizes of a rank,
/// micro-batch, group layouts), independent of pipeline and sharding.
struct BlockCosts {
  /// The cost of one class of layers with one recomputation.
  struct Recomputed {
    BlockPairCost cost;
    /// The backward, cut in two; null if no schedule cuts it.
    std::unique_ptr<const SplitCost> cut;
    /// Cost of its forward beside a backward of a layer of each class, with the same recomputation.
    schedule::Beside<BlockCost> pairs;

    /// Returns the parts of a cut backward; zero costs if it is not cut.
    [[nodiscard]] const SplitCost& split() const;
    /// Returns the cost of a direction of the backward.
    [[nodiscard]] const BlockCost& gradients(schedule::Direction direction) const;
    /// Returns the cost of both gradients; if the schedule cuts only some backwards, the lesser of
    /// a whole and a cut one.
    [[nodiscard]] BlockCost backward(schedule::BackwardForm form) const;
  };
  struct Layer {
    model::LayerClass which;
    step::UnitSize size;
    /// Costs of the layer, indexed by `BlockCosts::place`; null until asked for.
    std::vector<std::unique_ptr<Recomputed>> with;

    /// Returns the cost of a layer with one recomputation; zero before it was asked for.
    [[nodiscard]] const Recomputed& of(std::size_t place) const;
  };
  std::vector<Layer> layers;
  /// Number of multi-token layers; they are equal except for the first one's table.
  std::int64_t multi_tokens = 0;
  Layer multi_token;
  /// Size of the first multi-token layer if it has a table of its own.
  step::UnitSize split_multi_token_size;
  /// Module sets that are priced in addition to nothing, the core of attention, and everything.
  std::vector<plan::ModuleSet> listed;
  /// Index of a recomputation in `Layer::with`.
  [[nodiscard]] std::size_t place(const plan::LayerRecompute& recompute) const;
  BlockPairCost embedding;
  BlockPairCost whole_embedding;  ///< Cost of an embedding whose encoder's layers are recomputed.
  [[nodiscard]] const BlockPairCost& embedding_with(const plan::Recompute& recompute) const {
    return plan::recomputed(recompute).whole ? whole_embedding : embedding;
  }
  BlockPairCost head;  ///< Cost of the head: equal with a table of its own and with a borrowed one.
  /// Weight gradients of the head that are deferred until all backwards of its position have ended;
  /// `retained_bytes` are kept from each backward until then. 0: nothing is deferred.
  BlockCost head_gradient;
  double sent_bytes = 0;  ///< Bytes of one message to the neighbouring position.
  double arrival_s = 0;   ///< Seconds that the receiver needs before it can use a message.
  /// A position's part of embedding or head, where positions share the vocabulary; index 0:
  /// positions between the ends of the model, 1: positions at its ends.
  struct Part {
    BlockPairCost cost;
    step::UnitSize size;
    /// Passes, which replace `cost` in schedules whose positions do not meet.
    std::vector<PassCost> passes;
  };
  std::array<Part, 2> embedding_parts, head_parts;
  step::UnitSize embedding_size;
  /// Size of an untied head, or of a tied head with the table on the same rank.
  step::UnitSize head_size;
  step::UnitSize split_head_size;  ///< Size of a tied head that has its own copy of the table.
};

/// The smallest and the largest of several blocks, for each kind of element separately; 0 without
/// blocks.
struct BlockSizes {
  step::UnitSize least;
  step::UnitSize most;
  bool any = false;

  void keep(const step::UnitSize& block) {
    if (!any) least = block;
    any = true;
    for (const auto part : {&step::UnitSize::dense, &step::UnitSize::expert,
                            &step::UnitSize::borrowed, &step::UnitSize::frozen_dense,
                            &step::UnitSize::frozen_expert, &step::UnitSize::frozen_borrowed}) {
      least.*part = std::min(least.*part, block.*part);
      most.*part = std::max(most.*part, block.*part);
    }
  }
  auto operator<=>(const BlockSizes&) const = default;
};

/// Blocks without a backward, since nothing in them or below them is trained.
struct FrozenBlocks {
  step::UnitSize size;
  std::int64_t units = 0;
  std::int64_t routed_units = 0;  ///< Blocks with routed parameters.

  void add(const step::UnitSize& block, std::int64_t count) {
    size.add(block, count);
    units += count;
    if (block.frozen_expert > 0) routed_units += count;
  }
  auto operator<=>(const FrozenBlocks&) const = default;
};

/// The cost of one or several equal pipeline positions, before the model states are sharded.
struct StageCost {
  std::int64_t position = 0;  ///< The first of the equal positions.
  std::int64_t count = 1;     ///< Number of equal positions.
  BlockCost forward;          ///< Forward of one micro-batch through all chunks of the position.
  BlockCost backward;         ///< Data and weight gradients of one micro-batch.
  /// Lower bound of the seconds until the last of these positions can start its first forward.
  double fill_s = 0;
  /// Lower bound of the seconds from its last backward to the end of the pipeline.
  double drain_s = 0;
  /// Lower bound of the seconds from the last backward of the first of these positions to the end
  /// of the pipeline.
  double first_drain_s = 0;
  StepLoad load;  ///< Load of the last of these positions, without data-parallel messages.
  /// For each chunk, its least share of the position's dense or routed parameters.
  std::vector<double> chunk_shares;
  PeakBytes activations;  ///< Bytes at the peak: kept activations and the largest transient.
  /// Lower bound of the most bytes of activations that its host keeps for a rank.
  double on_host_bytes = 0;
  step::UnitSize size;
  /// Parameters whose weight gradients wait at the peak because backwards are cut, once for each
  /// micro-batch that waits; gradients that are reduced in each backward exist from its first part
  /// on. `cut_size`: parameters of the blocks whose backward is cut.
  step::UnitSize deferred_size;
  step::UnitSize cut_size;
  /// As in `BlockCosts`, for one micro-batch; but its `peak` is the peak of the position while all
  /// of them wait.
  BlockCost head_gradient;
  step::UnitSize head_size;  ///< Parameters of a head whose gradients are deferred; 0: none are.
  std::int64_t units = 0;    ///< Number of blocks with parameters.
  std::int64_t trained_units = 0;  ///< Number of blocks that train some parameters.
  BlockSizes blocks;               ///< Smallest and largest of the position's blocks.
  std::int64_t routed_units = 0;   ///< Number of blocks with routed parameters.
  std::int64_t corrected = 0;      ///< Number of routers whose biases a step corrects.
  FrozenBlocks resting;            ///< Blocks of the position that have no backward.
  /// Elements of an embedding table that is tied to the head, as in `StepEnd`.
  std::int64_t tied_table = 0;
  bool head = false;  ///< True if the position has the head and computes the loss.
  /// True if forwards run beside backwards: floors then hold for the sum of both.
  bool strands = false;
};

/// The cost of a plan's pipeline without its data-parallel messages. `floor_s`: lower bound of the
/// time with any sharding; `memory_floor_bytes`: lower bound of the memory with any sharding.
struct PipelineCost {
  std::vector<StageCost> stages;  ///< Distinct positions, in order of their first one.
  double seconds = 0;  ///< Closed-form seconds of forward and backward over all micro-batches.
  double floor_s = 0;
  double memory_floor_bytes = 0;
  double send_s = 0;
  double fill_share =
      1;  ///< Share of a position's work that one fill of the pipeline costs (1 / chunks).
  std::int64_t micro_batches = 1;
  /// Least seconds of turns, filled where they are simulated for a tighter bound.
  schedule::TurnSeconds floors;
};

/// How far a pipeline is simulated turn by turn, if its schedule has closed forms.
enum class SimulationExtent : std::uint8_t {
  kNothing,
  /// Simulates the pipeline for its lower bound only, with the messages that follow the last turns.
  kFloors,
  kAll  ///< Simulates the pipeline for its lower bound and for its seconds.
};

/// The cost of a plan, in closed form from summaries of its blocks: `lower_bound_s <= simulated <=
/// upper_bound_s`.
struct Price {
  double seconds = 0;
  double lower_bound_s = 0;
  double upper_bound_s = 0;
  /// Effect of unequal micro-batches on the step; `seconds` includes its waits.
  UnevenStepWaits uneven;
  /// The bytes that the largest stage needs, with the memory of processes and with experts loaded
  /// as `memory::assumed_expert_load` says. Never more than the program's account
  /// (`MemoryReport::needed_bytes`), so that a plan that does not fit by this figure does not fit.
  /// Parameters that are gathered ahead and gradients on their way to a reduction are left out, so
  /// it may be too small: over random plans by 2 % in the median, 15 % in one of twenty, at most 55
  /// %. It is replaced by the exact figure before it is shown (`simulate_plan`).
  double memory_bytes = 0;
  double host_bytes = 0;  ///< Bytes of the fullest host; never more than the program's account.
};

/// The bytes that one chunk keeps for one micro-batch, and the most (`beside`) that its parts need
/// in addition.
struct ChunkBytes {
  double forward = 0;  ///< Bytes kept from its forward to its backward or data gradients.
  double weight = 0;   ///< Bytes kept from its data gradients to its weight gradients.
  PeakBytes beside;
};

/// The seconds and bytes of a plan's chunks for one micro-batch, indexed by position, then chunk;
/// they do not depend on the order of the schedule.
struct PipelineParts {
  schedule::TurnSeconds seconds;  ///< Seconds of turns, for cut backwards and for whole ones.
  std::vector<std::vector<ChunkBytes>> bytes;
  std::vector<double>
      room_bytes;  ///< Bytes of activations that the chunks of each position may keep, as priced.
};

struct DataCost;
struct PriceStore;

/// Prices plans of one job, and remembers summaries. Not shared between threads: make one per
/// thread from the same job and cost model; they may share a store. Pricing has three steps
/// (`blocks`, `pipeline`, `finish`), so that a search can share the first ones and bound with them;
/// `price` does all three for the plan with its canonical sharding, which the steps assume.
class Pricer {
 public:
  Pricer(const plan::Job& job, const cost::CostModel& cost);
  Pricer(const plan::Job& job, const cost::CostModel& cost, const PriceStore& shared);
  ~Pricer();
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;

  /// Returns the costs of the plan's blocks. They depend on parallel.{tensor, context, expert,
  /// expert_tensor}, micro_batch, sequence_parallel, tensor_input, context_kind, overlap of blocks
  /// (`OverlapRow::of_blocks`), collectives.{tensor, context, expert}, rank_order, and recompute
  /// (each kind is added when it is first asked for); with a rank order other than the default also
  /// on parallel.{pipeline, data}. The reference stays valid as long as the pricer.
  const BlockCosts& blocks(const plan::Plan& plan);
  /// Returns the cost of the pipeline, which depends also on parallel.{pipeline, data}, schedule,
  /// layers and overlap.pipeline. Where chunks differ, simulating turns (`played`) comes nearer to
  /// the simulator than closed forms, and takes a thousand times as long.
  [[nodiscard]] PipelineCost pipeline(const BlockCosts& blocks, const plan::Plan& plan,
                                      SimulationExtent played = SimulationExtent::kNothing);
  /// Returns the full price: adds sharding, accumulate, buckets, collectives.data, and the overlap
  /// of gradients and parameters.
  [[nodiscard]] Price finish(const PipelineCost& pipeline, const plan::Plan& plan);
  /// Returns the price without memory; `messages`: the known messages and updates of the pipeline's
  /// distinct positions, in their order.
  [[nodiscard]] Price seconds(const PipelineCost& pipeline, const plan::Plan& plan,
                              std::span<const DataCost> messages);
  /// Returns the seconds of a position's update: small reductions, gradient norm and optimizer.
  [[nodiscard]] double update_s(const plan::Plan& plan, const StageCost& stage);

  Price price(const plan::Plan& plan) { return played_price(plan, SimulationExtent::kNothing); }
  Price played_price(const plan::Plan& plan, SimulationExtent played = SimulationExtent::kAll);
  /// Returns the parts of a plan from which an order of its schedule can be found.
  [[nodiscard]] PipelineParts parts(const plan::Plan& plan);

  [[nodiscard]] const cost::Contention& contention() const { return cost_.contention(); }

 private:
  struct Store;
  struct Passes;
  const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts(const plan::Plan& plan);
  const BlockCosts& scheduled_blocks(const plan::Plan& plan);
  /// True if gradients are created after the peak of a step: those of its only backward.
  [[nodiscard]] bool comes_late(const plan::Plan& plan, std::int64_t micro_batches) const;
  [[nodiscard]] Passes passes(const StageCost& stage, const PipelineCost& pipeline,
                              const DataCost& data, const plan::Plan& plan) const;
  void add_ends(Passes& out, const StageCost& stage, const PipelineCost& pipeline,
                const DataCost& data, const plan::Plan& plan) const;
  const plan::Job& job_;
  const cost::CostModel& cost_;
  std::unique_ptr<Store> store_;
};

}  // namespace stepwright::simulate
