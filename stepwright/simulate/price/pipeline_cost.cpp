#include "stepwright/simulate/price/pipeline_cost.h"

#include <algorithm>

#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/sharding_message_cost.h"
#include "stepwright/simulate/price/waiting_bytes.h"

namespace stepwright::simulate {
namespace {

/// Returns `part` / `whole`; 1 where `whole` is 0.
double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Number of messages that a position sends to other positions for one micro-batch.
struct SentChunks {
  double forward = 0;
  double backward = 0;
};

SentChunks sent_chunks(const schedule::ModelChunkPlacement& placement, std::int64_t position) {
  SentChunks sent;
  for (std::int64_t chunk = 0; chunk < placement.chunks(); ++chunk) {
    if (placement.forward_leaves_position({position, chunk})) ++sent.forward;
    if (placement.sends_backward({position, chunk})) ++sent.backward;
  }
  return sent;
}

/// Sets the weight gradients that the head of a position defers to the drain. Such a head has a
/// table of its own.
void set_head_gradient(PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                       const model::ModelArchitecture& model) {
  stage.head_gradient = blocks.head_gradient;
  stage.head_size = step::shares_embedding_table(model) ? blocks.split_head_size : blocks.head_size;
  stage.cut_size += stage.head_size;
}

/// Returns the peak over the moments at which most deferred gradients of a head wait: in the first
/// of them and, unless the schedule cuts only some backwards, in the last backward of its chunk.
/// That backward is the position's last; its micro-batch still waits in all other chunks.
PeakBytes waiting_head(const PipelinePositionCost& stage, const std::vector<ModelChunkCost>& chunks,
                       schedule::BackwardSplitting form, std::int64_t micro_batches) {
  const double kept = static_cast<double>(micro_batches - 1) * stage.head_gradient.retained_bytes;
  PeakBytes most;
  most.raise_peak_bytes(stage.head_gradient.peak, kept);
  if (form == schedule::BackwardSplitting::kBoth) return most;
  double others = 0;
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) others += chunks[i].forward.retained_bytes;
  most.raise_peak_bytes(chunks.back().backward_peak, kept + others);
  return most;
}

}  // namespace

PipelinePricer::PipelinePricer(const plan::Job& job, const cost::CostModel& cost,
                               PipelineSimulator& played)
    : job_(job), cost_(cost), layers_(model::layer_order(job.model)), played_(played) {}

PeakBytes PipelinePricer::activations(const plan::Plan& plan, PipelinePositionCost& stage) {
  const std::int64_t position = stage.position;
  // If a chunk has no layers, the peak need not be at the last chunk.
  const bool full = std::ranges::all_of(
      chunks_, [](const ModelChunkCost& chunk) { return chunk.forward.retained_bytes > 0; });
  const std::int64_t m = plan::micro_batches_per_pipeline(job_, plan);
  if (full && schedule::has_closed_form_schedule_time(plan.schedule.kind)) {
    stage.on_host_bytes = peak_offloaded_activation_bytes(chunks_, plan, position, m);
    return peak_kept_activation_bytes(chunks_, plan, position, m);
  }
  const auto known = played_.schedule_moments_of_peak_activations(plan, m);
  const std::vector<schedule::WaitingMicroBatches>& fullest =
      known->fullest[static_cast<std::size_t>(position)];
  stage.on_host_bytes = played_on_host(chunks_, fullest);
  return simulated_activation_peak_bytes(chunks_, pair_peaks_, fullest, splits_backwards(), stage);
}

/// Returns the cost of a position's chunks, without activations that wait.
PipelinePositionCost PipelinePricer::stage(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                           std::int64_t position) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  PipelinePositionCost stage;
  stage.position = position;
  chunks_.assign(static_cast<std::size_t>(placement.chunks()), {});
  std::vector<step::ModelBlockParameterCounts> sizes;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const schedule::ModelChunkPosition place{position, static_cast<std::int64_t>(i)};
    ModelChunkCost& chunk = chunks_[i];
    const step::ModelBlockParameterCounts before = stage.size;
    add_blocks(chunk, stage, blocks, plan, place);
    stage.cut_size += chunk.cut_size;
    if (plan.schedule.strands > 1) {
      for (ModelBlockPassCost* cost :
           {&chunk.forward, &chunk.backward, &chunk.weight, &chunk.whole}) {
        cost->lower_bounds_for_shared_stream();
      }
    }
    sizes.push_back(
        {.dense = stage.size.dense - before.dense, .expert = stage.size.expert - before.expert});
    stage.forward.add(chunk.forward, 1);
    stage.backward.add(chunk.whole_backward_cost(form_), 1);
    slowest_chunk_[i] = std::max(slowest_chunk_[i], chunk.forward.seconds + chunk.backward.seconds);
  }
  if (schedule::traits_of(plan.schedule.kind).spreads_vocabulary) add_joint(stage, blocks, plan);
  const bool defers = placement.holds_head(position) && blocks.head_gradient.seconds > 0;
  if (defers) set_head_gradient(stage, blocks, job_.model);
  for (const step::ModelBlockParameterCounts& size : sizes) {
    stage.chunk_shares.push_back(
        std::min(share(size.dense, stage.size.dense), share(size.expert, stage.size.expert)));
  }
  stage.strands = plan.schedule.strands > 1;
  const auto at = static_cast<std::size_t>(position);
  first_forward_floor_[at] = chunks_.front().forward.floor_s;
  first_backward_floor_[at] = chunks_.front().backward.floor_s;
  return stage;
}

bool PipelinePricer::same_as_before(const plan::Plan& plan, std::int64_t position) const {
  const std::int64_t p = plan.parallel.pipeline;
  const bool alike = schedule::has_closed_form_schedule_time(
      plan.schedule.kind);  // otherwise its positions wait differently
  if (!alike || position < 2 || position + 1 == p) return false;
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const auto content =
      [&](const schedule::ModelChunkPosition& place) -> const ModelChunkLayerCounts& {
    return contents_[static_cast<std::size_t>(placement.model_chunk_index(place))];
  };
  for (std::int64_t chunk = 0; chunk < placement.chunks(); ++chunk) {
    if (!(content({position, chunk}) == content({position - 1, chunk}))) return false;
  }
  return true;
}

double PipelinePricer::pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                                  const ActivationSendCost& send) {
  const double hop_s = plan.overlap.pipeline ? send.seconds : 0;
  if (!plays_) {
    return schedule::definition_of(plan.schedule.kind)
        .form.seconds(micro_batches, {forward_, backward_, slowest_chunk_, hop_s});
  }
  turn_seconds_.hop_s = hop_s;
  return played_.seconds_of_pipeline(plan, micro_batches, turn_seconds_);
}

/// Sets the load of the present position for all its micro-batches, with its messages to other
/// positions.
void PipelinePricer::set_load(PipelinePositionCost& stage, const plan::Plan& plan,
                              const ActivationSendCost& send) const {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const auto m = static_cast<double>(plan::micro_batches_per_pipeline(job_, plan));
  const double slow = max_computation_slowdown_factor(cost_.contention());
  PipelinePositionStepLoad& load = stage.load;
  for (const ModelBlockPassCost* pass : {&stage.forward, &stage.backward}) {
    load.compute_s += m * pass->compute_s;
    load.waiting_s += m * pass->waiting_s;
    for (std::size_t i = 0; i < load.busy_s.size(); ++i) load.busy_s[i] += m * pass->busy_s[i];
  }
  for (const ModelChunkCost& chunk : chunks_) {
    load.first_s = std::max(load.first_s, slow * chunk.forward.floor_s);
    load.last_s = std::max(
        load.last_s,
        slow * std::max(chunk.backward.floor_s + chunk.weight.floor_s, chunk.whole.floor_s));
  }
  const bool first = placement.holds_embedding(stage.position);
  const SentChunks sent = sent_chunks(placement, stage.position);
  const double sends = sent.forward + sent.backward;
  load.busy_s[static_cast<std::size_t>(send.link)] += m * sends * send.seconds;
  load.waiting_s += m * sends * send.arrival_s;
  // The last blocking message is part of the drain.
  if (!plan.overlap.pipeline) load.waiting_s += (m * sends - (first ? 0 : 1)) * send.seconds;
}

/// Sets the floors: when a position can start at the earliest, and what must follow its last
/// backward, less the weight gradients that the position may defer until then.
void PipelinePricer::set_floors(PipelineCost& cost, const plan::Plan& plan,
                                const ActivationSendCost& send) {
  const auto m = static_cast<double>(cost.micro_batches);
  const auto cut = splits_backwards()
                       ? played_.schedule_moments_of_peak_activations(plan, cost.micro_batches)
                       : nullptr;
  double fill = 0;
  double drain = 0;
  std::size_t position = 0;
  for (PipelinePositionCost& stage : cost.stages) {
    stage.first_drain_s = drain;
    for (std::int64_t i = 0; i < stage.count; ++i, ++position) {
      stage.fill_s = fill;
      stage.drain_s = drain;
      if (cut != nullptr) {
        const auto left = static_cast<double>(cut->trailing_weight_gradients[position]);
        stage.drain_s = std::max(0.0, drain - left * weight_floor_[position]);
      }
      fill += first_forward_floor_[position] + send.seconds;
      drain += first_backward_floor_[position] + send.seconds;
    }
    stage.load.fill_s = stage.fill_s;
    // Deferred weight gradients fill the drain.
    stage.load.drain_s = splits_backwards() ? 0 : stage.drain_s;
    cost.floor_s = std::max(
        {cost.floor_s,
         stage.fill_s + stage.drain_s + m * (stage.forward.floor_s + stage.backward.floor_s),
         step_time_lower_bound_s(stage.load, cost_.contention())});
  }
}

/// Sets the seconds of a position for one micro-batch. A blocking message adds its time; one that
/// does not block slows computation down.
void PipelinePricer::set_seconds(const plan::Plan& plan, const PipelinePositionCost& stage,
                                 std::int64_t position, const ActivationSendCost& send) {
  const auto at = static_cast<std::size_t>(position);
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const double share = plan.overlap.pipeline ? send.slow_down : 1.0;
  const SentChunks sent = sent_chunks(placement, position);
  forward_[at] =
      stage.forward.seconds + sent.forward * share * send.seconds + sent.backward * send.arrival_s;
  backward_[at] =
      stage.backward.seconds + sent.backward * share * send.seconds + sent.forward * send.arrival_s;
  if (plays_ || floors_) {
    set_part_seconds(placement, position, share, send);
  }
}

/// Sets a position's seconds chunk by chunk, for turns that are simulated and backwards that are
/// cut.
void PipelinePricer::set_part_seconds(const schedule::ModelChunkPlacement& placement,
                                      std::int64_t position, double share,
                                      const ActivationSendCost& send) {
  const auto at = static_cast<std::size_t>(position);
  std::vector<schedule::ModelChunkWorkSeconds>& parts = turn_seconds_.parts[at];
  std::vector<schedule::ModelChunkWorkSeconds>& floors = turn_floors_.parts[at];
  parts.assign(chunks_.size(), {});
  floors.assign(chunks_.size(), {});
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const schedule::ModelChunkPosition place{position, static_cast<std::int64_t>(i)};
    const double onward = placement.forward_leaves_position(place) ? 1 : 0;
    const double back = placement.sends_backward(place) ? 1 : 0;
    const double messages = back * share * send.seconds + onward * send.arrival_s;
    const ModelBlockPassCost& whole =
        form_ == schedule::BackwardSplitting::kBoth ? chunks_[i].whole : chunks_[i].backward;
    parts[i] = {.forward = chunks_[i].forward.seconds + onward * share * send.seconds +
                           back * send.arrival_s,
                .backward = whole.seconds + messages,
                .data = chunks_[i].backward.seconds + messages,
                .weight = chunks_[i].weight.seconds,
                .embed = chunks_[i].embed.seconds,
                .predict = chunks_[i].predict.seconds,
                .embed_gradient = chunks_[i].embed_gradient.seconds};
    floors[i] = {.forward = chunks_[i].forward.floor_s,
                 .backward = whole.floor_s,
                 .data = chunks_[i].backward.floor_s,
                 .weight = chunks_[i].weight.floor_s,
                 .embed = chunks_[i].embed.floor_s,
                 .predict = chunks_[i].predict.floor_s,
                 .embed_gradient = chunks_[i].embed_gradient.floor_s};
    weight_floor_[at] += chunks_[i].weight.floor_s;
  }
  if (!chunks_.front().passes.empty()) set_pass_seconds();
}

/// Appends the seconds of the present position's passes over the vocabulary.
void PipelinePricer::set_pass_seconds() {
  schedule::VocabularyPassSeconds& seconds = turn_seconds_.passes.emplace_back();
  schedule::VocabularyPassSeconds& floors = turn_floors_.passes.emplace_back();
  for (std::size_t i = 0; i < schedule::kVocabularyPasses; ++i) {
    const VocabularyPassCost& pass = chunks_.front().passes[i];
    seconds.own[i] = pass.cost.seconds;
    seconds.messages[i] = pass.message_s;
    floors.own[i] = pass.cost.floor_s;
    seconds.is_there[i] = floors.is_there[i] = pass.is_there;
  }
}

/// Sets the floors of turns, either kept in `cost` so that a plan's messages can be laid around
/// them, or simulated at once. Long pipelines are skipped: only a part of them is simulated for
/// their seconds, which bounds nothing.
void PipelinePricer::set_turn_floors(PipelineCost& cost, const plan::Plan& plan,
                                     SimulationExtent played) {
  if (cost.micro_batches * plan::model_chunk_placement(plan).model_chunk_count() >
      kMaxSimulatedPipelineTurns)
    return;
  if (played != SimulationExtent::kNothing) cost.floors = turn_floors_;
  if (played == SimulationExtent::kNothing ||
      !schedule::has_closed_form_schedule_time(plan.schedule.kind)) {
    cost.floor_s = std::max(cost.floor_s,
                            played_.simulated_pipeline_s(plan, cost.micro_batches, turn_floors_));
  }
}

/// Copies the values of the position before to position `at`, which does the same work.
void PipelinePricer::repeat_position(std::size_t at) {
  for (auto* values : {&forward_, &backward_, &first_forward_floor_, &first_backward_floor_}) {
    (*values)[at] = (*values)[at - 1];
  }
  for (schedule::PipelineScheduleSeconds* turns : {&turn_seconds_, &turn_floors_}) {
    turns->parts[at] = turns->parts[at - 1];
    if (!turns->passes.empty()) turns->passes.push_back(turns->passes.back());
  }
}

PipelineCost PipelinePricer::compose(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                     const ActivationSendCost& send, SimulationExtent played) {
  const std::int64_t p = plan.parallel.pipeline;
  split_ = plan::layers_per_chunk(job_, plan);
  count_layers(blocks, plan, layers_, split_, contents_);
  form_ = schedule::backward_form(plan.schedule);
  floors_ = splits_backwards() || played != SimulationExtent::kNothing;
  plays_ = played == SimulationExtent::kAll ||
           !schedule::has_closed_form_schedule_time(plan.schedule.kind);
  PipelineCost cost;
  cost.micro_batches = plan::micro_batches_per_pipeline(job_, plan);
  cost.send_s = send.seconds + send.arrival_s;
  cost.fill_share = 1.0 / static_cast<double>(plan.schedule.chunks);
  forward_.assign(static_cast<std::size_t>(p), 0);
  backward_ = first_forward_floor_ = first_backward_floor_ = weight_floor_ = forward_;
  turn_seconds_.parts.assign(static_cast<std::size_t>(p), {});
  turn_floors_.parts.assign(static_cast<std::size_t>(p), {});
  turn_seconds_.passes.clear();
  turn_floors_.passes.clear();
  slowest_chunk_.assign(static_cast<std::size_t>(plan.schedule.chunks), 0);
  for (std::int64_t position = 0; position < p; ++position) {
    const auto at = static_cast<std::size_t>(position);
    if (same_as_before(plan, position)) {
      ++cost.stages.back().count;
      repeat_position(at);
      continue;
    }
    cost.stages.push_back(stage(blocks, plan, position));
    set_seconds(plan, cost.stages.back(), position, send);
    if (plan.schedule.strands > 1) set_pairs(blocks, plan, position);
    PipelinePositionCost& own = cost.stages.back();
    own.activations = activations(plan, own);
    if (own.head_gradient.seconds > 0) {
      own.head_gradient.peak = waiting_head(own, chunks_, form_, cost.micro_batches);
    }
    set_load(own, plan, send);
  }
  set_floors(cost, plan, send);
  turn_floors_.hop_s = send.seconds;
  if (plays_ || played != SimulationExtent::kNothing) set_turn_floors(cost, plan, played);
  cost.seconds = std::max(pipeline_s(plan, cost.micro_batches, send), cost.floor_s);
  return cost;
}

std::vector<PipelinePositionCost> PipelinePricer::order_independent_position_costs(
    const ModelBlockCosts& blocks, const plan::Plan& plan, const ActivationSendCost& send,
    ModelChunkSecondsAndBytes& parts) {
  const auto p = static_cast<std::size_t>(plan.parallel.pipeline);
  split_ = plan::layers_per_chunk(job_, plan);
  count_layers(blocks, plan, layers_, split_, contents_);
  form_ = schedule::BackwardSplitting::kBoth;
  plays_ = true;
  for (auto* values :
       {&forward_, &backward_, &first_forward_floor_, &first_backward_floor_, &weight_floor_}) {
    values->assign(p, 0);
  }
  turn_seconds_.parts.assign(p, {});
  turn_floors_.parts.assign(p, {});
  turn_seconds_.passes.clear();
  turn_floors_.passes.clear();
  slowest_chunk_.assign(static_cast<std::size_t>(plan.schedule.chunks), 0);
  std::vector<PipelinePositionCost> stages;
  for (std::int64_t position = 0; position < plan.parallel.pipeline; ++position) {
    stages.push_back(stage(blocks, plan, position));
    set_seconds(plan, stages.back(), position, send);
    std::vector<ModelChunkActivationBytes>& bytes = parts.bytes.emplace_back();
    for (const ModelChunkCost& chunk : chunks_) {
      bytes.push_back(chunk.bytes());
      bytes.back().weight += deferred_gradient_bytes(plan, chunk.begun_size);
    }
  }
  parts.seconds = turn_seconds_;
  parts.seconds.hop_s = plan.overlap.pipeline ? send.seconds : 0;
  return stages;
}

}  // namespace stepwright::simulate
