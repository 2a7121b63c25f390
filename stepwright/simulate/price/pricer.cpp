#include "stepwright/simulate/price/pricer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/host_memory.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/data_cost_cache.h"
#include "stepwright/simulate/price/layout_store.h"
#include "stepwright/simulate/price/pipeline_cost.h"
#include "stepwright/simulate/price/played_pipeline.h"
#include "stepwright/simulate/price/position_floor.h"
#include "stepwright/simulate/price/price_store.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::simulate {
namespace {

/// A stream of messages that runs beside a pass through the blocks of a position.
struct Overlay {
  double seconds = 0;
  cost::LinkClass link = cost::LinkClass::kNone;
};

/// Returns the seconds that a pass (`work`) loses to a message stream beside it, by the simulator's
/// rules on average: computation slows down while a message is sent, and the pass's own messages
/// share their link.
double slow_down(const ModelBlockPassCost& work, const Overlay& stream,
                 const cost::OverlapSlowdownFactors& contention) {
  if (stream.seconds <= 0 || work.seconds <= 0) return 0;
  const double share = std::min(1.0, stream.seconds / work.seconds);
  return share * (work.compute_s * (computation_slowdown_factor(stream.link, contention) - 1) +
                  work.busy_s[static_cast<std::size_t>(stream.link)]);
}

/// How often a pass starts and ends: in each pass, each of its slots waits for its first gather,
/// and its last block for the last gather.
struct PassShape {
  double units = 1;
  double slots = 1;
};

/// Returns the duration of a pass with gathers ahead of its blocks, while the stream `other` also
/// runs.
double pass_seconds(const ModelBlockPassCost& work, const PassShape& shape, const Overlay& gather,
                    const Overlay& other, const cost::OverlapSlowdownFactors& contention) {
  const double slowed =
      work.seconds + slow_down(work, gather, contention) + slow_down(work, other, contention);
  if (gather.seconds <= 0) return slowed;
  const double ends = shape.slots / shape.units;
  const double own = work.busy_s[static_cast<std::size_t>(gather.link)] *
                     std::min(1.0, gather.seconds / std::max(work.seconds, 1e-30));
  const double beside = other.link == gather.link ? std::min(other.seconds, gather.seconds) : 0;
  return std::max(slowed + gather.seconds * ends,
                  gather.seconds + own + beside + work.seconds * ends);
}

/// Returns the least time of a forward and a backward pass together in which the reductions of one
/// backward, and everything that shares their link, can be sent.
double cycle_seconds(const ModelBlockPassCost& forward, const ModelBlockPassCost& backward,
                     const Overlay& gathers, const Overlay& reduce) {
  if (reduce.seconds <= 0) return 0;
  const auto link = static_cast<std::size_t>(reduce.link);
  const double gathers_s = gathers.link == reduce.link ? gathers.seconds : 0;
  const double own = forward.busy_s[link] + backward.busy_s[link];
  return reduce.seconds +
         std::max(gathers_s,
                  own * std::min(1.0, reduce.seconds / (forward.seconds + backward.seconds)));
}

/// Returns the work of a pass with messages that do not overlap: they run on its compute stream,
/// and messages of its other streams can run beside them.
ModelBlockPassCost with_blocking(ModelBlockPassCost work, const MessageSecondsWithBound& gather,
                                 const MessageSecondsWithBound& reduce) {
  work.seconds += gather.seconds + reduce.seconds;
  work.busy_s[static_cast<std::size_t>(gather.link)] += gather.seconds;
  work.busy_s[static_cast<std::size_t>(reduce.link)] += reduce.seconds;
  return work;
}

/// Returns the bytes that a position holds beside its states at its peak. Reduced gradients of a
/// deferred head wait with it; gradients of `others` exist beside the ones in progress.
double dynamic_bytes(const plan::Plan& plan, const PipelinePositionCost& stage,
                     double transient_bytes, double others) {
  const auto at = [&](const PeakBytes& peak) {
    return std::max(peak.any, peak.using_parameters + transient_bytes);
  };
  return std::max(
      at(stage.activations) + deferred_gradient_bytes(plan, stage.deferred_size),
      at(stage.head_gradient.peak) + others * deferred_gradient_bytes(plan, stage.head_size));
}

/// Returns the cost of a message to the neighbouring position; zero if there is no other position.
PipelinePricer::ActivationSendCost send_of(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                           const Layouts& layouts, const cost::CostModel& cost) {
  if (plan.parallel.pipeline == 1) return {};
  const cost::OperatorTime time = cost.message_time(
      step::OperatorKind::kSend, blocks.sent_bytes,
      layouts[static_cast<std::size_t>(plan::CommunicatorKind::kPipeline)],
      collective::CollectiveAlgorithm::kLibrary, step::ParallelismScheme::kPipeline);
  return {time.seconds, computation_slowdown_factor(time.link, cost.contention()) - 1,
          blocks.arrival_s, time.link};
}

}  // namespace

struct PlanPricer::Store {
  Store(const plan::Job& job, const cost::CostModel& cost, const SharedPricerCaches& shared)
      : pricer(job, cost),
        played(shared.schedules),
        pipelines(job, cost, played),
        blocks(shared.blocks),
        uneven(job, shared.schedules),
        layouts(job.cluster),
        computations(cost) {}

  ModelBlockPricer pricer;
  PipelineSimulator played;
  PipelinePricer pipelines;
  std::shared_ptr<ModelBlockCostCache> blocks;
  UnevenMicroBatchWaitModel uneven;
  GroupLayoutCache layouts;
  ShardingCostCache data;
  cost::OperatorTimeCache computations;       ///< Remembered prices of the computations of updates.
  std::vector<ShardingMessageCost> messages;  ///< Scratch space of `finish`.
  std::vector<double> hosts;            ///< Scratch: host bytes that a rank of each position needs.
  memory::DeviceMemoryReserve reserve;  ///< Margins of plans that store whole parameters.
  memory::DeviceMemoryReserve sharded_reserve;  ///< Margins of plans that shard parameters.
  [[nodiscard]] const memory::DeviceMemoryReserve& reserve_of(const plan::Plan& plan) const {
    return plan.sharding.parameters == plan::StateShardingScope::kNone ? reserve : sharded_reserve;
  }
  bool late_gradients = false;      ///< Result of `memory::allocates_gradients_late` for the job.
  bool passing_parameters = false;  ///< Whole parameters exist only during a step (`for_step`).
};

PlanPricer::PlanPricer(const plan::Job& job, const cost::CostModel& cost)
    : PlanPricer(job, cost, SharedPricerCaches{}) {}

PlanPricer::PlanPricer(const plan::Job& job, const cost::CostModel& cost,
                       const SharedPricerCaches& shared)
    : job_(job), cost_(cost), store_(std::make_unique<Store>(job, cost, shared)) {
  store_->reserve = memory::framework_memory_reserve(job);
  store_->sharded_reserve = memory::framework_memory_reserve(job, true);
  store_->late_gradients = memory::allocates_gradients_late(job);
  const plan::WordSet apart = plan::framework_defaults(job.framework).apart;
  for (const plan::UnfusedWork work :
       {plan::UnfusedWork::kBlocksForStep, plan::UnfusedWork::kCastsForStep}) {
    if (apart[static_cast<std::size_t>(work)]) store_->passing_parameters = true;
  }
}

bool PlanPricer::gradients_are_created_after_memory_peak(const plan::Plan& plan,
                                                         std::int64_t micro_batches) const {
  return store_->late_gradients && plan.parallel.pipeline == 1 && micro_batches == 1;
}

PlanPricer::~PlanPricer() = default;

const Layouts& PlanPricer::layouts(const plan::Plan& plan) {
  if (store_->layouts.is_layout_cache_full()) {
    store_->layouts.clear();
    store_->data.clear();
  }
  return store_->layouts.get(plan);
}

const ModelBlockCosts& PlanPricer::blocks(const plan::Plan& plan) {
  return store_->blocks->get(plan, layouts(plan), store_->pricer);
}

/// Returns the blocks of a plan whose schedule is known: a position that holds one table for both
/// ends of the model does not defer the table's gradient.
const ModelBlockCosts& PlanPricer::scheduled_blocks(const plan::Plan& plan) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const bool joins_table = step::shares_embedding_table(job_.model) &&
                           placement.embedding_pipeline_position() == placement.head_position();
  if (!joins_table) return blocks(plan);
  plan::Plan whole = plan;
  whole.overlap.defer_embedding_gradient = false;
  return blocks(whole);
}

namespace {

/// Returns the most bytes of parameters that are sharded over all ranks: fp32.
double most_shards_bytes(const plan::Plan& plan, const PipelinePositionCost& stage) {
  double bytes = 0;
  for (const step::ShardingGroups& spread : {step::dense_spread(plan), step::routed_spread(plan)}) {
    const auto elements = static_cast<double>(spread.sharded_trained_elements(stage.size)) +
                          static_cast<double>(spread.frozen(stage.size));
    bytes += elements * static_cast<double>(bytes_of_elements(DType::kFp32, 1)) /
             static_cast<double>(spread.world);
  }
  return bytes;
}

}  // namespace

PipelineCost PlanPricer::pipeline_cost_of_plan(const ModelBlockCosts& given, const plan::Plan& plan,
                                               SimulationExtent played) {
  // A caller that shares blocks among schedules passes them without this schedule's parts of the
  // vocabulary tables.
  const bool own = schedule::traits_of(plan.schedule.kind).spreads_vocabulary ||
                   plan.overlap.defer_embedding_gradient;
  const ModelBlockCosts& blocks = own ? scheduled_blocks(plan) : given;
  PipelineCost cost =
      store_->pipelines.compose(blocks, plan, send_of(blocks, plan, layouts(plan), cost_), played);
  const bool late = gradients_are_created_after_memory_peak(plan, cost.micro_batches);
  for (const PipelinePositionCost& stage : cost.stages) {
    const double dynamic = std::max(stage.activations.any, stage.head_gradient.peak.any);
    const double passing = late && store_->passing_parameters ? most_shards_bytes(plan, stage) : 0;
    const double states = min_model_state_bytes(job_, plan, stage, !late) - passing;
    cost.memory_floor_bytes = std::max(
        cost.memory_floor_bytes, std::max(0.0, states) + dynamic + store_->reserve.bytes(dynamic));
  }
  return cost;
}

PlanPrice PlanPricer::played_price(const plan::Plan& plan, SimulationExtent played) {
  const plan::Plan settled = plan::with_canonical_sharding(job_, plan);
  return finish(pipeline_cost_of_plan(blocks(settled), settled, played), settled);
}

ModelChunkSecondsAndBytes PlanPricer::chunk_seconds_and_bytes_of_plan(const plan::Plan& given) {
  const plan::Plan plan = plan::with_canonical_sharding(job_, given);
  const ModelBlockCosts& costs = scheduled_blocks(plan);
  ModelChunkSecondsAndBytes parts;
  const std::vector<PipelinePositionCost> stages =
      store_->pipelines.order_independent_position_costs(
          costs, plan, send_of(costs, plan, layouts(plan), cost_), parts);
  const double usable = memory::usable_memory_bytes(job_);
  const auto micro_batches = static_cast<double>(plan::micro_batches_per_pipeline(job_, plan));
  const bool late =
      gradients_are_created_after_memory_peak(plan, plan::micro_batches_per_pipeline(job_, plan));
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const ShardedStateMemory memory = data_memory(job_, plan, stages[i]);
    PeakBytes beside;
    for (const ModelChunkActivationBytes& chunk : parts.bytes[i])
      beside.raise_peak_bytes(chunk.beside, 0);
    const double set_aside =
        store_->reserve_of(plan).bytes(0, memory.parameter_bytes, memory.optimizer_bytes);
    const double states = memory.states_bytes - (late ? memory.gradient_bytes : 0);
    const double dynamic = (usable - states - set_aside) / (1 + store_->reserve.share);
    parts.room_bytes.push_back(
        dynamic - micro_batches * stages[i].head_gradient.retained_bytes -
        std::max(beside.any, beside.using_parameters + memory.transient_bytes));
  }
  return parts;
}

/// The contribution of one position to a price.
struct PlanPricer::Passes {
  double forward_s = 0;  ///< Seconds of a forward in the steady state.
  double backward_s = 0;
  double serial_s = 0;  ///< Seconds of both passes with every message after the other.
  double start_s = 0;   ///< Seconds that the first forward adds.
  double end_s = 0;     ///< Seconds that the last backward adds.
  double update_s = 0;
  double update_floor_s = 0;
};

namespace {

MicroBatchGrowthSeconds slowest_of(const PipelineCost& pipeline) {
  MicroBatchGrowthSeconds slowest;
  double most_s = 0;
  for (const PipelinePositionCost& stage : pipeline.stages) {
    const double all_s = stage.forward.seconds + stage.backward.seconds;
    if (all_s <= most_s) continue;
    most_s = all_s;
    slowest = {.pairs = stage.forward.pairs_growth_s + stage.backward.pairs_growth_s,
               .tokens = stage.forward.template_growth_s + stage.backward.template_growth_s};
  }
  return slowest;
}

PassShape pass_shape(const PipelinePositionCost& stage, const PipelineCost& pipeline) {
  return {static_cast<double>(std::max<std::int64_t>(stage.units, 1)), 1 / pipeline.fill_share};
}

}  // namespace

PlanPricer::Passes PlanPricer::passes(const PipelinePositionCost& stage,
                                      const PipelineCost& pipeline, const ShardingMessageCost& data,
                                      const plan::Plan& plan) const {
  const cost::OverlapSlowdownFactors& contention = cost_.contention();
  const PassShape shape = pass_shape(stage, pipeline);
  const bool ahead = plan.overlap.parameters;
  const bool behind = plan.overlap.gradients;
  const Overlay none;
  const MessageSecondsWithBound nothing;
  const Overlay gather{ahead ? data.gather.seconds : 0, data.gather.link};
  const Overlay regather{ahead ? data.regather.seconds : 0, data.regather.link};
  const Overlay both{gather.seconds + regather.seconds, gather.link};
  const Overlay reduce{behind ? data.reduce.seconds : 0, data.reduce.link};
  Passes out;
  const ModelBlockPassCost forward =
      with_blocking(stage.forward, ahead ? nothing : data.gather, nothing);
  const ModelBlockPassCost backward = with_blocking(stage.backward, ahead ? nothing : data.regather,
                                                    behind ? nothing : data.reduce);
  out.forward_s = pass_seconds(forward, shape, gather, none, contention);
  out.backward_s = std::max(pass_seconds(backward, shape, regather, reduce, contention),
                            cycle_seconds(forward, backward, both, reduce) - out.forward_s);
  const double worst = max_computation_slowdown_factor(contention);
  out.serial_s =
      (stage.forward.serial_s + stage.backward.serial_s + stage.head_gradient.serial_s) * worst +
      (data.gather.seconds + data.regather.seconds) + data.reduce.seconds +
      4 * pipeline.send_s / pipeline.fill_share;
  out.update_s = data.update_s + (ahead ? 0 : data.refresh.seconds);
  out.update_floor_s = data.update_s + (ahead ? 0 : data.refresh.floor_s);
  add_ends(out, stage, pipeline, data, plan);
  return out;
}

/// Adds the extra seconds of the first forward and of the last backward of a step.
void PlanPricer::add_ends(Passes& out, const PipelinePositionCost& stage,
                          const PipelineCost& pipeline, const ShardingMessageCost& data,
                          const plan::Plan& plan) const {
  const cost::OverlapSlowdownFactors& contention = cost_.contention();
  if (plan.overlap.parameters && data.refresh.seconds > 0) {
    const Overlay both{data.gather.seconds + data.refresh.seconds, data.refresh.link};
    const double first =
        pass_seconds(stage.forward, pass_shape(stage, pipeline), both, {}, contention);
    out.start_s = std::clamp(first - out.forward_s, 0.0, data.refresh.seconds);
  }
  const double deferred_s =
      static_cast<double>(pipeline.micro_batches) * stage.head_gradient.seconds;
  if (!plan.overlap.gradients) {
    out.end_s = deferred_s + data.last_reduce.seconds;
    return;
  }
  const double all = data.last_reduce.seconds + data.reduce.seconds;
  const double slowed =
      slow_down(stage.backward, {data.last_reduce.seconds, data.last_reduce.link}, contention);
  const double share = 1.0 / data.pieces;
  out.end_s = slowed + std::max(all * share, all - out.backward_s * (1 - share));
  if (deferred_s <= 0) return;
  // The head's gradients are reduced when the last of them is complete.
  const double head_share = static_cast<double>(stage.head_size.dense) /
                            static_cast<double>(stage.size.dense + stage.size.expert);
  out.end_s = std::max(out.end_s, deferred_s + head_share * all);
}

PlanPrice PlanPricer::plan_price_without_memory(const PipelineCost& pipeline,
                                                const plan::Plan& plan,
                                                std::span<const ShardingMessageCost> messages) {
  const auto m = static_cast<double>(pipeline.micro_batches);
  PlanPrice price;
  double slowest = 0;
  double base_slowest = 0;
  double fill = 0;
  double end = 0;
  double update = 0;
  double floor = pipeline.floor_s;
  double update_floor = std::numeric_limits<double>::infinity();
  double serial = 0;
  double start = 0;
  schedule::PipelineScheduleSeconds floors = pipeline.floors;
  for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
    const PipelinePositionCost& stage = pipeline.stages[i];
    const ShardingMessageCost& data = messages[i];
    const Passes pass = passes(stage, pipeline, data, plan);
    const double base = stage.forward.seconds + stage.backward.seconds;
    const double work = pass.forward_s + pass.backward_s;
    slowest = std::max(slowest, work);
    base_slowest = std::max(base_slowest, base);
    fill += static_cast<double>(stage.count) * (work - base);
    if (stage.position == 0) start = pass.start_s;
    end = std::max(end, pass.end_s - stage.first_drain_s);
    update = std::max(update, pass.update_s);
    update_floor = std::min(update_floor, pass.update_floor_s);
    floor = std::max(
        {floor, position_time_lower_bound_s(stage, data, plan.overlap, m, cost_.contention()),
         stage.fill_s +
             m * (stage.forward.floor_s + stage.backward.floor_s + stage.head_gradient.floor_s)});
    if (!floors.parts.empty()) {
      floors.messages.insert(floors.messages.end(), static_cast<std::size_t>(stage.count),
                             min_chunk_message_seconds(stage, data, plan.overlap));
    }
    const auto rounds = m + static_cast<double>(stage.count);
    serial +=
        rounds * pass.serial_s + data.refresh.seconds + data.last_reduce.seconds + pass.update_s;
  }
  const double slower = slowest - base_slowest;
  const double extra = m * slower + (fill - slower) * pipeline.fill_share;
  price.seconds = pipeline.seconds + extra + start + end + update;
  if (!floors.parts.empty()) {
    floor =
        std::max(floor, store_->played.simulated_pipeline_s(plan, pipeline.micro_batches, floors));
  }
  // A position that waits for other positions at the end has already begun its update.
  price.lower_bound_s = std::min(floor + update_floor, price.seconds);
  price.upper_bound_s = std::max(serial, price.seconds);
  if (job_.documents) {
    price.uneven = store_->uneven.expected_waits_of_plan(plan, slowest_of(pipeline));
    price.seconds += price.uneven.waits_s;
    price.upper_bound_s += price.uneven.waits_s;
  }
  return price;
}

PlanPrice PlanPricer::finish(const PipelineCost& pipeline, const plan::Plan& plan) {
  const Layouts& groups = layouts(plan);
  std::vector<ShardingMessageCost>& messages = store_->messages;
  messages.clear();
  std::vector<double>& hosts = store_->hosts;
  hosts.clear();
  double memory_bytes = 0;
  const auto others = static_cast<double>(pipeline.micro_batches - 1);
  const bool late = gradients_are_created_after_memory_peak(plan, pipeline.micro_batches);
  for (const PipelinePositionCost& stage : pipeline.stages) {
    const ShardingCostCache::Entry& known =
        store_->data.get({cost_, job_, plan, groups, stage}, store_->computations);
    messages.push_back(known.cost);
    const ShardedStateMemory& memory = known.memory;
    const double dynamic = dynamic_bytes(plan, stage, memory.transient_bytes, others);
    const auto with = [&](double states, double tensors) {
      return states + tensors +
             store_->reserve_of(plan).bytes(tensors, memory.parameter_bytes,
                                            memory.optimizer_bytes);
    };
    const double states = memory.states_bytes - (late ? memory.gradient_bytes : 0);
    // Parameters that exist only during a step are all present when a backward begins, and none
    // during the update.
    const bool passes = late && store_->passing_parameters &&
                        plan.sharding.parameters == plan::StateShardingScope::kNone;
    const auto frozen = static_cast<double>(stage.size.frozen_dense + stage.size.frozen_expert);
    const double passing = passes
                               ? memory.parameter_bytes +
                                     frozen * static_cast<double>(bytes_of_elements(
                                                  plan::parameter_storage_type(job_.precision), 1))
                               : 0;
    memory_bytes = std::max({memory_bytes, with(states, 0), with(states - passing, dynamic),
                             late ? with(memory.states_bytes - passing, 0) : 0});
    const double on_host = memory.host_bytes + stage.on_host_bytes;
    hosts.insert(hosts.end(), static_cast<std::size_t>(stage.count), on_host);
  }
  PlanPrice price = plan_price_without_memory(pipeline, plan, messages);
  price.memory_bytes = memory_bytes;
  if (std::ranges::max(hosts) > 0) {
    price.host_bytes = plan::fullest_node_host_memory_bytes(hosts, plan::node_ranks(job_, plan));
  }
  return price;
}

double PlanPricer::step_end_seconds_of_position(const plan::Plan& plan,
                                                const PipelinePositionCost& stage) {
  return store_->data.cached_step_end_seconds({cost_, job_, plan, layouts(plan), stage},
                                              store_->computations);
}

}  // namespace stepwright::simulate
