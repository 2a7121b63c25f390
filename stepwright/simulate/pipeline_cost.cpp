#include "stepwright/simulate/pipeline_cost.h"

#include <algorithm>
#include <numeric>

#include "stepwright/simulate/block_costs.h"

namespace stepwright {

PipelinePricer::PipelinePricer(const Job& job) : job_(job), layers_(layer_order(job.model)) {}

/// What every chunk of the model holds, by class.
void PipelinePricer::count_layers(const Plan& plan) {
  split_ = chunk_layers(job_, plan);
  contents_.resize(split_.size());
  std::size_t layer = 0;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    Content& content = contents_[i];
    content.layers = split_[i];
    content.plain.assign(layers_.classes.size(), 0);
    content.full.assign(layers_.classes.size(), 0);
    for (std::int64_t k = 0; k < split_[i]; ++k, ++layer) {
      const bool full = plan.recompute.kind == RecomputeKind::kEvery
                            ? k % plan.recompute.every == 0
                            : plan.recompute.kind == RecomputeKind::kFull;
      auto& counts = full ? content.full : content.plain;
      ++counts[layers_.class_of[layer]];
    }
  }
}

void PipelinePricer::add_layers(Chunk& chunk, StageCost& stage, const BlockCosts& blocks,
                                const Plan& plan, const Content& content) const {
  const std::size_t plain = plan.recompute.kind == RecomputeKind::kSelective ? 1 : 0;
  for (std::size_t i = 0; i < layers_.classes.size(); ++i) {
    const BlockCosts::Layer& layer = blocks.layers[i];
    const std::pair<std::int64_t, std::size_t> parts[] = {{content.plain[i], plain},
                                                          {content.full[i], 2}};
    for (const auto& [count, kind] : parts) {
      if (count == 0) continue;
      const BlockPairCost& cost = layer.costs[kind];
      chunk.forward.add(cost.forward, static_cast<double>(count));
      chunk.backward.add(cost.backward, static_cast<double>(count));
      // Layers that are not recomputed follow the last one that is.
      const double after = kind == 2 && content.plain[i] > 0
                               ? static_cast<double>((content.layers - 1) % plan.recompute.every) *
                                     layer.costs[plain].forward.retained_bytes
                               : 0;
      const double before = chunk.forward.retained_bytes - cost.forward.retained_bytes - after;
      chunk.peak_bytes = std::max(
          {chunk.peak_bytes, before + cost.forward.peak_bytes, before + cost.backward.peak_bytes});
      stage.units += count;
    }
    const std::int64_t held = content.plain[i] + content.full[i];
    if (held > 0) stage.least_block.keep(layer.size);
    if (layer.size.expert > 0) stage.routed_units += held;
    stage.size.dense += held * layer.size.dense;
    stage.size.expert += held * layer.size.expert;
    stage.size.partial += held * layer.size.partial;
  }
}

/// Embedding and head, where the chunk has them.
void PipelinePricer::add_ends(Chunk& chunk, StageCost& stage, const BlockCosts& blocks,
                              const Plan& plan, std::int64_t which) const {
  const bool first = which == 0;
  const bool last = which + 1 == static_cast<std::int64_t>(split_.size());
  const bool split_table = job_.model.tied && plan.parallel.pipeline > 1;
  const auto add = [&](const BlockPairCost& cost, const UnitSize& size) {
    const double before = chunk.forward.retained_bytes;
    chunk.forward.add(cost.forward, 1);
    chunk.backward.add(cost.backward, 1);
    chunk.peak_bytes = std::max(
        {chunk.peak_bytes, before + cost.forward.peak_bytes, before + cost.backward.peak_bytes});
    stage.size += size;
    stage.least_block.keep(size);
    ++stage.units;
  };
  if (first) {
    add(blocks.embedding, blocks.embedding_size);
  }
  if (last) add(blocks.head, split_table ? blocks.split_head_size : blocks.head_size);
  if (split_table && (first || last)) {
    stage.tied_table = blocks.split_head_size.dense - blocks.head_size.dense;
  }
  stage.head = stage.head || last;
}

/// Micro-batches of a chunk that wait for their backward at the fullest moment.
double PipelinePricer::in_flight(const Plan& plan, std::int64_t position,
                                 std::int64_t chunk) const {
  const std::int64_t m = micro_batches(job_, plan);
  const std::int64_t p = plan.parallel.pipeline;
  const std::int64_t behind = p - 1 - position;
  switch (plan.schedule.kind) {
    case ScheduleKind::kGpipe: return static_cast<double>(m);
    case ScheduleKind::kOneForwardOneBackward: return static_cast<double>(std::min(m, behind + 1));
    case ScheduleKind::kInterleaved: break;
  }
  const std::int64_t v = plan.schedule.chunks;
  const std::int64_t all = std::min(m * v, 2 * behind + (v - 1) * p + 1);
  const std::int64_t rounds = all / (p * v);
  const std::int64_t rest = std::clamp<std::int64_t>(all % (p * v) - chunk * p, 0, p);
  return static_cast<double>(rounds * p + rest);
}

double PipelinePricer::activations(const Plan& plan, std::int64_t position) const {
  // When all have come that wait at once, the first backward is that of the last chunk.
  double bytes = chunks_.back().peak_bytes - chunks_.back().forward.retained_bytes;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    bytes +=
        in_flight(plan, position, static_cast<std::int64_t>(i)) * chunks_[i].forward.retained_bytes;
  }
  return bytes;
}

StageCost PipelinePricer::stage(const BlockCosts& blocks, const Plan& plan, std::int64_t position) {
  StageCost stage;
  stage.position = position;
  chunks_.assign(static_cast<std::size_t>(plan.schedule.chunks), {});
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const std::int64_t which = static_cast<std::int64_t>(i) * plan.parallel.pipeline + position;
    add_layers(chunks_[i], stage, blocks, plan, contents_[static_cast<std::size_t>(which)]);
    add_ends(chunks_[i], stage, blocks, plan, which);
    stage.forward.add(chunks_[i].forward, 1);
    stage.backward.add(chunks_[i].backward, 1);
    slowest_chunk_[i] =
        std::max(slowest_chunk_[i], chunks_[i].forward.seconds + chunks_[i].backward.seconds);
  }
  stage.activation_bytes = activations(plan, position);
  first_forward_floor_[static_cast<std::size_t>(position)] = chunks_.front().forward.floor_s;
  first_backward_floor_[static_cast<std::size_t>(position)] = chunks_.front().backward.floor_s;
  return stage;
}

bool PipelinePricer::same_as_before(const Plan& plan, std::int64_t position) const {
  const std::int64_t p = plan.parallel.pipeline;
  if (position < 2 || position + 1 == p) return false;
  for (std::int64_t i = position; i < static_cast<std::int64_t>(contents_.size()); i += p) {
    if (!(contents_[static_cast<std::size_t>(i)] == contents_[static_cast<std::size_t>(i - 1)])) {
      return false;
    }
  }
  return true;
}

/// Slowest stretch of neighbouring positions in the steady state of 1F1B: a round trip over `n` of
/// them lets `n` micro-batches pass and pays `2 (n - 1)` hops. Looks at single positions and at
/// stretches from either end.
double PipelinePricer::steady(std::int64_t micro_batches, double hop) const {
  const auto rounds = static_cast<double>(micro_batches - 1);
  double slowest = 0;
  const std::size_t p = forward_.size();
  const auto consider = [&](double work, std::size_t count) {
    const auto n = static_cast<std::int64_t>(count);
    const std::int64_t round_trips = (micro_batches - 1 + n - 1) / n;
    const auto trips = static_cast<double>(round_trips);
    slowest = std::max(
        slowest, rounds * work / static_cast<double>(n) + 2 * hop * std::max(0.0, rounds - trips));
  };
  double from_first = 0;
  double from_last = 0;
  for (std::size_t i = 0; i < p; ++i) {
    const double here = forward_[i] + backward_[i];
    from_first += here;
    from_last += forward_[p - 1 - i] + backward_[p - 1 - i];
    consider(here, 1);
    consider(from_first, i + 1);
    consider(from_last, i + 1);
  }
  return slowest;
}

double PipelinePricer::closed_form(const Plan& plan, std::int64_t micro_batches,
                                   const Send& send) const {
  const double hop = plan.overlap.pipeline ? send.seconds : 0;
  const auto rounds = static_cast<double>(micro_batches - 1);
  const double hops = 2 * hop * static_cast<double>(plan.parallel.pipeline - 1);
  const double all = std::accumulate(forward_.begin(), forward_.end(), 0.0) +
                     std::accumulate(backward_.begin(), backward_.end(), 0.0);
  if (plan.schedule.kind == ScheduleKind::kOneForwardOneBackward) {
    return all + hops + steady(micro_batches, hop);
  }
  if (plan.schedule.kind == ScheduleKind::kGpipe) {
    return all + hops +
           rounds * (*std::max_element(forward_.begin(), forward_.end()) +
                     *std::max_element(backward_.begin(), backward_.end()));
  }
  double slowest = 0;
  for (std::size_t i = 0; i < forward_.size(); ++i) {
    slowest = std::max(slowest, forward_[i] + backward_[i]);
  }
  const auto v = static_cast<double>(plan.schedule.chunks);
  return static_cast<double>(micro_batches) * pace(slowest) + (all - slowest) / v + hops;
}

/// Of a micro-batch through interleaved stages. In lock-step every chunk would take what the
/// slowest stage takes for it; stages of unequal chunks make up for half of that, as simulations
/// show.
double PipelinePricer::pace(double slowest_stage) const {
  const double lock_step = std::accumulate(slowest_chunk_.begin(), slowest_chunk_.end(), 0.0);
  return std::max(slowest_stage, (slowest_stage + lock_step) / 2);
}

/// Floors: when a position can start at the earliest, and what must follow its last backward.
void PipelinePricer::set_floors(PipelineCost& cost, const Send& send) const {
  const auto m = static_cast<double>(cost.micro_batches);
  double fill = 0;
  double drain = 0;
  std::size_t position = 0;
  for (StageCost& stage : cost.stages) {
    stage.first_drain_s = drain;
    for (std::int64_t i = 0; i < stage.count; ++i, ++position) {
      stage.fill_s = fill;
      stage.drain_s = drain;
      fill += first_forward_floor_[position] + send.seconds;
      drain += first_backward_floor_[position] + send.seconds;
    }
    cost.floor_s = std::max(cost.floor_s, stage.fill_s + stage.drain_s +
                                              m * (stage.forward.floor_s + stage.backward.floor_s));
  }
}

PipelineCost PipelinePricer::compose(const BlockCosts& blocks, const Plan& plan, const Send& send) {
  const std::int64_t p = plan.parallel.pipeline;
  count_layers(plan);
  PipelineCost cost;
  cost.micro_batches = micro_batches(job_, plan);
  cost.send_s = send.seconds + send.arrival_s;
  cost.fill_share = 1.0 / static_cast<double>(plan.schedule.chunks);
  forward_.assign(static_cast<std::size_t>(p), 0);
  backward_ = first_forward_floor_ = first_backward_floor_ = forward_;
  slowest_chunk_.assign(static_cast<std::size_t>(plan.schedule.chunks), 0);
  for (std::int64_t position = 0; position < p; ++position) {
    const auto at = static_cast<std::size_t>(position);
    if (same_as_before(plan, position)) {
      ++cost.stages.back().count;
      for (auto* values : {&forward_, &backward_, &first_forward_floor_, &first_backward_floor_}) {
        (*values)[at] = (*values)[at - 1];
      }
      continue;
    }
    cost.stages.push_back(stage(blocks, plan, position));
    // A message costs its position time when it blocks, and slows computation down when it does
    // not.
    const double share = plan.overlap.pipeline ? send.slow_down : 1.0;
    const auto chunks = static_cast<double>(plan.schedule.chunks);
    const double sends_forward = position + 1 < p ? chunks : chunks - 1;
    const double sends_backward = position > 0 ? chunks : chunks - 1;
    forward_[at] = cost.stages.back().forward.seconds + sends_forward * share * send.seconds +
                   sends_backward * send.arrival_s;
    backward_[at] = cost.stages.back().backward.seconds + sends_backward * share * send.seconds +
                    sends_forward * send.arrival_s;
  }
  set_floors(cost, send);
  cost.seconds = std::max(closed_form(plan, cost.micro_batches, send), cost.floor_s);
  return cost;
}

}  // namespace stepwright
