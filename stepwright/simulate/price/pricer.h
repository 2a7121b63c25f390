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

/// The largest of some moments, and of those at which a block needs its parameters: where they are
/// gathered, their bytes come on top.
struct PeakBytes {
  double any = 0;
  double using_parameters = 0;  ///< Peak while parameters are in use; 0: nothing uses parameters.

  /// Takes the larger of each and of `other` beside `beside_bytes`.
  void keep(const PeakBytes& other, double beside_bytes) {
    any = std::max(any, other.any + beside_bytes);
    if (other.using_parameters <= 0) return;
    using_parameters = std::max(using_parameters, other.using_parameters + beside_bytes);
  }
};

/// One template, priced once: what it costs alone on its streams, and what it does to memory.
struct BlockCost {
  double seconds = 0;    ///< Duration alone, with the contention among its own operators.
  double floor_s = 0;    ///< The least that it takes of its compute stream in a step
                         ///< (`simulate/price/block_floor.h`).
  double compute_s = 0;  ///< Seconds of computation in it.
  double kernels_s = 0;  ///< Seconds of its computation if the host were never waited for.
  double stream_s = 0;   ///< Seconds of everything on its compute stream.
  double waiting_s = 0;  ///< Seconds in which its compute stream can compute nothing.
  double serial_s = 0;   ///< All its operators one after the other.
  /// How much longer it is with more tokens, over their share more; where micro-batches have
  /// unequal lengths.
  double growth_s = 0;
  /// How much longer it is with more query-key pairs, over their share more; with documents.
  double pairs_growth_s = 0;
  std::array<double, cost::kLinkClasses> busy_s{};  ///< Seconds of messages by link class.
  double retained_bytes = 0;                        ///< Kept from forward to backward.
  /// Bytes kept from forward to backward in host memory.
  double on_host_bytes = 0;
  PeakBytes peak;  ///< Bytes of all tensors alive at the template's largest moment.

  /// Adds `count` repetitions; peaks take the larger.
  void add(const BlockCost& other, double count);
  /// Takes the lesser of each.
  void keep_least(const BlockCost& other);
  /// Floors of what runs beside another strand, which may fill its waits, for the host too: its
  /// kernels.
  void share_stream();
};

struct BlockPairCost {
  BlockCost forward, backward;
};

/// A pass over the vocabulary: its cost until its compute stream has ended, and how much longer the
/// message takes that it leaves on its way.
struct PassCost {
  schedule::Direction direction{};
  BlockCost cost;
  double message_s = 0;
  bool is_there = false;  ///< It computes, or hands something on, if in no time.
};

/// A backward cut in two (`step/split_backward.h`).
struct SplitCost {
  BlockCost data, weight;
};

/// All blocks under one setting of everything that a block depends on (sizes of a rank,
/// micro-batch, group layouts), whatever the pipeline and the sharding.
struct BlockCosts {
  /// One class of layers with one recomputation.
  struct Recomputed {
    BlockPairCost cost;
    /// The backward, cut in two; null if no schedule cuts it.
    std::unique_ptr<const SplitCost> cut;
    /// By class of layer: its forward beside a backward of that class with the same recomputation.
    schedule::Beside<BlockCost> pairs;

    /// The parts of a cut backward; of none 0.
    [[nodiscard]] const SplitCost& split() const;
    /// Cost in a direction of the backward.
    [[nodiscard]] const BlockCost& gradients(schedule::Direction direction) const;
    /// Both gradients; where some are whole and some cut the least of either.
    [[nodiscard]] BlockCost backward(schedule::BackwardForm form) const;
  };
  struct Layer {
    model::LayerClass which;
    step::UnitSize size;
    std::vector<std::unique_ptr<Recomputed>> with;  ///< Costs by `place`; null until asked for.

    /// Cost of a layer with one recomputation; 0 before it was asked for.
    [[nodiscard]] const Recomputed& of(std::size_t place) const;
  };
  std::vector<Layer> layers;
  std::int64_t multi_tokens = 0;  ///< Multi-token layers, alike but for the first one's table.
  Layer multi_token;
  /// Size of the first multi-token layer, with a table of its own.
  step::UnitSize split_multi_token_size;
  /// Module sets priced beside nothing, the core of attention and all.
  std::vector<plan::ModuleSet> listed;
  /// Index of a recomputation in `Layer::with`.
  [[nodiscard]] std::size_t place(const plan::LayerRecompute& recompute) const;
  BlockPairCost embedding;
  BlockPairCost whole_embedding;  ///< Embedding whose encoder's layers are recomputed.
  [[nodiscard]] const BlockPairCost& embedding_with(const plan::Recompute& recompute) const {
    return plan::recomputed(recompute).whole ? whole_embedding : embedding;
  }
  BlockPairCost head;  ///< The work is the same with a table of its own and a borrowed one.
  /// Weight gradients of the head that wait until all backwards of its position have ended;
  /// `retained_bytes` are kept from each backward until then. 0: nothing waits.
  BlockCost head_gradient;
  double sent_bytes = 0;  ///< Bytes of one message to the neighbouring position.
  double arrival_s = 0;   ///< Seconds of the receiver before it can use a message.
  /// Where positions share the vocabulary: of those between the ends of the model and at them.
  struct Part {
    BlockPairCost cost;
    step::UnitSize size;
    std::vector<PassCost> passes;  ///< Instead, where positions do not meet.
  };
  std::array<Part, 2> embedding_parts, head_parts;
  step::UnitSize embedding_size;
  step::UnitSize head_size;        ///< Untied, or with the table on the same rank.
  step::UnitSize split_head_size;  ///< Size of a tied head with a copy of the table of its own.
};

/// The smallest and the largest of several blocks by each kind of their elements, each by itself;
/// of none 0.
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

/// Blocks without a backward: nothing in or below them is trained.
struct RestingBlocks {
  step::UnitSize size;
  std::int64_t units = 0;
  std::int64_t routed_units = 0;  ///< Blocks with routed parameters.

  void add(const step::UnitSize& block, std::int64_t count) {
    size.add(block, count);
    units += count;
    if (block.frozen_expert > 0) routed_units += count;
  }
  auto operator<=>(const RestingBlocks&) const = default;
};

/// Pipeline positions that do the same, before the model states are spread.
struct StageCost {
  std::int64_t position = 0;  ///< First of the equal positions.
  std::int64_t count = 1;     ///< Number of such positions.
  BlockCost forward;          ///< One micro-batch through all chunks of the position.
  BlockCost backward;         ///< Data and weight gradients.
  double fill_s = 0;          ///< Floor until the last of them can start its first forward.
  double drain_s = 0;         ///< Floor from its last backward to the end of the pipeline.
  /// Floor from the last backward of the first position to the end of the pipeline.
  double first_drain_s = 0;
  StepLoad load;  ///< Load of the last of them, without messages of data parallelism.
  std::vector<double>
      chunk_shares;          ///< By chunk: the least share of its dense or routed parameters.
  PeakBytes activations;     ///< Bytes at the peak: kept activations and the largest transient.
  double on_host_bytes = 0;  ///< The most activations that its host keeps for a rank, at least.
  step::UnitSize size;
  /// The deferred size of cut backwards: the parameters of the blocks that are cut, and those whose
  /// weight gradients wait at the peak, once for each micro-batch: gradients that leave are there
  /// from the first part on.
  step::UnitSize deferred_size;
  step::UnitSize cut_size;
  /// As in `BlockCosts`, for one micro-batch; but its peak is that of the position while all wait.
  BlockCost head_gradient;
  step::UnitSize head_size;        ///< Parameters of a head that defers gradients.
  std::int64_t units = 0;          ///< Number of blocks with parameters.
  std::int64_t trained_units = 0;  ///< Number of blocks that train some parameters.
  BlockSizes blocks;               ///< Smallest and largest of its blocks.
  std::int64_t routed_units = 0;   ///< Number of blocks with routed parameters.
  std::int64_t corrected = 0;      ///< Number of routers that a step corrects.
  RestingBlocks resting;           ///< Blocks of it that have no backward.
  std::int64_t tied_table = 0;     ///< Elements of a tied table, as in `StepEnd`.
  bool head = false;               ///< True if it computes the loss.
  bool strands = false;            ///< Forwards run beside backwards: floors hold of their sum.
};

/// The pipeline of a plan without its data-parallel messages. `floor_s` bounds from below what any
/// sharding of it can reach; `memory_floor_bytes` likewise what it needs.
struct PipelineCost {
  std::vector<StageCost> stages;  ///< Distinct positions, by their first one.
  double seconds = 0;             ///< Closed form of forward and backward over all micro-batches.
  double floor_s = 0;
  double memory_floor_bytes = 0;
  double send_s = 0;
  double fill_share =
      1;  ///< Share of a position's work that one fill of the pipeline costs (1 / chunks).
  std::int64_t micro_batches = 1;
  /// Least seconds of turns, where they are played for a tighter bound.
  schedule::TurnSeconds floors;
};

/// The extent to which a pipeline is played turn by turn, where its schedule has closed forms.
enum class Played : std::uint8_t {
  kNothing,
  kFloors,  ///< Plays its lower bound, with the messages that follow the last turns.
  kAll      ///< Plays lower bound and seconds.
};

/// The cost of a plan, in closed form from summaries: `lower_bound_s <= simulated <=
/// upper_bound_s`.
struct Price {
  double seconds = 0;
  double lower_bound_s = 0;
  double upper_bound_s = 0;
  Uneven uneven;  ///< Effect of unequal micro-batches; `seconds` holds its waits.
  /// The bytes that the largest stage needs, with the memory of processes and experts loaded as
  /// `memory::held_load` says: never more than the program's account
  /// (`MemoryReport::needed_bytes`), so that what does not fit by it does not fit. Parameters that
  /// are gathered ahead and gradients on their way to a reduction are left out, so that it may be
  /// less: over random plans by 2 % in the median, 15 % in one of twenty, at most 55 %. Exact
  /// before it is shown (`simulate_plan`).
  double memory_bytes = 0;
  double host_bytes = 0;  ///< Bytes of the fullest host, never more than the program's account.
};

/// The bytes that one chunk keeps for one micro-batch, and the most that its parts need beside
/// them.
struct ChunkBytes {
  double forward = 0;  ///< Bytes kept from its forward to its backward or data gradients.
  double weight = 0;   ///< Bytes kept from its data gradients to its weight gradients.
  PeakBytes beside;
};

/// The seconds and bytes of a plan's chunks for one micro-batch, by position, then chunk, whatever
/// the order of its schedule.
struct PipelineParts {
  schedule::TurnSeconds seconds;  ///< Seconds of cut backwards and of whole ones.
  std::vector<std::vector<ChunkBytes>> bytes;
  std::vector<double>
      room_bytes;  ///< By position: what its chunks may keep, by the price's account.
};

struct DataCost;
struct PriceStore;

/// Prices plans of one job. Keeps the summaries that it made; not shared between threads (make one
/// per thread from the same job and cost model; they may share a store). Three steps, so that
/// a search can share the outer ones and bound with them; `price` does all three, of the plan with
/// its canonical sharding, which the steps take for granted.
class Pricer {
 public:
  Pricer(const plan::Job& job, const cost::CostModel& cost);
  Pricer(const plan::Job& job, const cost::CostModel& cost, const PriceStore& shared);
  ~Pricer();
  Pricer(const Pricer&) = delete;
  Pricer& operator=(const Pricer&) = delete;

  /// Depends on parallel.{tensor, context, expert, expert_tensor}, micro_batch, sequence_parallel,
  /// tensor_input, context_kind, overlap of blocks (`OverlapRow::of_blocks`), collectives.{tensor,
  /// context, expert}, rank_order, and recompute (each kind is added when it is first asked for);
  /// with a rank order other than the default also on parallel.{pipeline, data}. The reference
  /// stays valid as long as the pricer.
  const BlockCosts& blocks(const plan::Plan& plan);
  /// Depends further on parallel.{pipeline, data}, schedule, layers, overlap.pipeline. What is
  /// played is nearer to the simulator than closed forms where chunks differ, and takes a thousand
  /// times as long.
  [[nodiscard]] PipelineCost pipeline(const BlockCosts& blocks, const plan::Plan& plan,
                                      Played played = Played::kNothing);
  /// Adds sharding, accumulate, buckets, collectives.data, overlap of gradients and parameters.
  [[nodiscard]] Price finish(const PipelineCost& pipeline, const plan::Plan& plan);
  /// Price without memory, where the messages and updates of its distinct positions, in their
  /// order, are known.
  [[nodiscard]] Price seconds(const PipelineCost& pipeline, const plan::Plan& plan,
                              std::span<const DataCost> messages);
  /// The update of a position: small reductions, norm and optimizer.
  [[nodiscard]] double update_s(const plan::Plan& plan, const StageCost& stage);

  Price price(const plan::Plan& plan) { return played_price(plan, Played::kNothing); }
  Price played_price(const plan::Plan& plan, Played played = Played::kAll);
  /// The parts of a plan by which an order of them can be looked for.
  [[nodiscard]] PipelineParts parts(const plan::Plan& plan);

  [[nodiscard]] const cost::Contention& contention() const { return cost_.contention(); }

 private:
  struct Store;
  struct Passes;
  const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts(const plan::Plan& plan);
  const BlockCosts& scheduled_blocks(const plan::Plan& plan);
  /// True if gradients come after the largest moment of a step: those of its only backward.
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
