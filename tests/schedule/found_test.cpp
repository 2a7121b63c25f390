// Searched orders for uneven pipelines, compared with the best named schedule.
#include "stepwright/schedule/found/found.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/schedule/found/order_bound.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::schedule {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A model cut into two halves of a stage per position; for each half, its layers, each with one
/// unit of forward time.
struct Uneven {
  std::string name;
  std::int64_t stages;
  std::int64_t micro_batches;
  double data;    ///< Time of a layer's data gradients.
  double weight;  ///< Time of a layer's weight gradients.
  double hop;
  double most;  ///< The most activations that may be held.
  std::vector<double> layers;
  double embedding;  ///< Added to the first half: forward time, and as much for its gradients.
  double head;  ///< Added to the last half: forward time; twice as much for its data gradients.
};

ModelChunkWorkSeconds half_of(const Uneven& u, std::size_t half) {
  const double layers = u.layers[half];
  ModelChunkWorkSeconds part{
      .forward = layers, .data = u.data * layers, .weight = u.weight * layers};
  if (half == 0) {
    part.forward += u.embedding;
    part.weight += u.embedding;
  }
  if (half + 1 == u.layers.size()) {
    part.forward += u.head;
    part.data += 2 * u.head;
  }
  part.backward = part.data + part.weight;
  return part;
}

PipelineScheduleSeconds seconds_of(const Uneven& u, const ModelChunkPlacement& placement) {
  PipelineScheduleSeconds seconds;
  seconds.hop_s = u.hop;
  seconds.parts.assign(
      static_cast<std::size_t>(u.stages),
      std::vector<ModelChunkWorkSeconds>(static_cast<std::size_t>(placement.chunks())));
  const std::int64_t halves = 2 / placement.chunks();
  for (std::int64_t half = 0; half < 2 * u.stages; ++half) {
    const ModelChunkPosition place = placement.place_of_model_chunk(half / halves);
    ModelChunkWorkSeconds& sum =
        seconds
            .parts[static_cast<std::size_t>(place.position)][static_cast<std::size_t>(place.chunk)];
    const ModelChunkWorkSeconds part = half_of(u, static_cast<std::size_t>(half));
    sum.forward += part.forward;
    sum.backward += part.backward;
    sum.data += part.data;
    sum.weight += part.weight;
  }
  return seconds;
}

UnevenPipeline pipeline_of(const Uneven& u, const ModelChunkPlacement& placement) {
  return activation_limited_pipeline(placement, u.micro_batches, seconds_of(u, placement), u.most);
}

bool holds(const Uneven& u, std::span<const Turns> turns, std::int64_t chunks) {
  return std::ranges::all_of(
      peak_kept_micro_batches_by_position(turns, static_cast<double>(chunks)),
      [&](double held) { return held <= u.most + 1e-9; });
}

double played_s(const Uneven& u, const ModelChunkPlacement& placement,
                const std::vector<Turns>& turns) {
  ScheduleTurnSimulator player;
  return makespan_s(player.turn_end_seconds(turns, placement, seconds_of(u, placement)));
}

/// Returns the time of the shortest named schedule that can run within the memory limit, with any
/// placement.
double best_named_s(const Uneven& u) {
  double best = kNever;
  for (const auto& [kind, name] : kScheduleKindNames) {
    const PipelineScheduleTraits& traits = traits_of(kind);
    if (!is_fixed_order_kind(kind)) continue;
    if (traits.groups && u.micro_batches < u.stages) continue;
    if (u.micro_batches < traits.least_rounds * u.stages) continue;
    for (std::int64_t chunks = traits.least_chunks;
         chunks <= std::min<std::int64_t>(2, traits.most_chunks); ++chunks) {
      const PipelineSchedule schedule{.kind = kind, .chunks = chunks};
      std::vector<Turns> turns = schedule_turns_of_positions(schedule, u.stages, u.micro_batches);
      for (Turns& list : turns) list = serialize_overlapped_turns(list);
      if (!holds(u, turns, chunks)) continue;
      best = std::min(best, played_s(u, model_chunk_placement(schedule, u.stages), turns));
    }
  }
  return best;
}

double found_s(const Uneven& u) {
  double best = kNever;
  for (const ModelChunkPlacement& placement :
       {ModelChunkPlacement(ModelChunkPlacementKind::kV, u.stages, 1),
        ModelChunkPlacement(ModelChunkPlacementKind::kV, u.stages, 2),
        ModelChunkPlacement(ModelChunkPlacementKind::kCyclic, u.stages, 2)}) {
    const UnevenPipeline pipeline = pipeline_of(u, placement);
    const std::vector<Turns> turns = find_shortest_schedule_turns(pipeline);
    const double seconds = played_s(u, placement, turns);
    EXPECT_TRUE(holds(u, turns, placement.chunks())) << u.name;
    EXPECT_GE(seconds, makespan_lower_bound_s(pipeline) * (1 - 1e-9)) << u.name;
    best = std::min(best, seconds);
  }
  return best;
}

std::vector<double> even(std::int64_t stages) {
  return std::vector<double>(static_cast<std::size_t>(2 * stages), 2.0);
}

/// Returns `layers` with one half of another length.
std::vector<double> with(std::vector<double> layers, std::size_t half, double length) {
  layers[half] = length;
  return layers;
}

std::vector<Uneven> cases() {
  std::vector<Uneven> list{
      {"large head", 4, 16, 1, 1, 0, 4, even(4), 0, 2},
      {"larger head", 4, 16, 1, 1, 0, 4, even(4), 0, 4},
      {"large head, deep", 8, 32, 1, 1, 0, 8, even(8), 0, 2},
      {"head and embedding", 4, 12, 1, 1, 0, 4, even(4), 1, 2},
      {"first stage lighter", 4, 16, 1, 1, 0, 4, with(with(even(4), 0, 1), 1, 1), 1, 2},
      {"last stage lighter", 4, 16, 1, 1, 0, 4, with(with(even(4), 6, 1), 7, 1), 0, 1},
      {"slow stage in the middle", 4, 16, 1, 1, 0, 4, with(even(4), 3, 3), 0, 0},
      {"slow stage, deep", 8, 24, 1, 1, 0, 8, with(even(8), 7, 3), 0, 1},
      {"half the memory", 4, 16, 1, 1, 0, 2, even(4), 0, 1},
      {"half the memory, deep", 8, 32, 1, 1, 0, 4, even(8), 0, 1},
      {"three quarters of the memory", 8, 32, 1, 1, 0, 6, even(8), 0, 1},
      {"slow links", 4, 16, 1, 1, 0.5, 4, even(4), 0, 1},
      {"slow links, deep", 8, 32, 1, 1, 1, 8, even(8), 0, 1},
      {"few micro-batches", 8, 6, 1, 1, 0, 8, even(8), 0, 1},
      {"not a multiple", 4, 11, 1, 1, 0.2, 4, even(4), 0, 1},
      {"long context", 4, 16, 1.6, 0.4, 0, 4, even(4), 0, 1},
      {"long context, half the memory", 4, 16, 1.6, 0.4, 0.1, 2, even(4), 0, 1},
      {"weights heavier", 4, 16, 0.9, 1.4, 0, 4, even(4), 0, 1},
      {"recomputed", 4, 16, 2, 1, 0, 4, even(4), 0, 1},
      {"twice the memory", 4, 16, 1, 1, 0.3, 8, even(4), 1, 1}};
  return list;
}

// At least two per cent shorter in most cases, never longer.
TEST(FoundSchedule, IsNeverLongerThanTheBestNamedOne) {
  int shorter = 0;
  for (const Uneven& u : cases()) {
    const double named = best_named_s(u);
    const double found = found_s(u);
    EXPECT_LE(found, named * (1 + 1e-12)) << u.name;
    shorter += found <= 0.98 * named ? 1 : 0;
    RecordProperty(u.name, std::to_string(found / named));
  }
  EXPECT_GT(shorter, 13);
}

// Forward 1, data gradient 1, weight gradient 1 on two stages for two micro-batches: nothing can be
// shorter than one forward on the first stage and then all 6 units of the second.
TEST(FoundSchedule, IsTheShortestByHand) {
  const ModelChunkWorkSeconds part{.forward = 1, .backward = 2, .data = 1, .weight = 1};
  const std::vector<Turns> turns = find_shortest_schedule_turns(activation_limited_pipeline(
      ModelChunkPlacement(ModelChunkPlacementKind::kV, 2, 1), 2, {.parts = {2, {part}}}, 2));
  ScheduleTurnSimulator player;
  EXPECT_DOUBLE_EQ(
      makespan_s(player.turn_end_seconds(
          turns, ModelChunkPlacement(ModelChunkPlacementKind::kV, 2, 1), {.parts = {2, {part}}})),
      7);
}

/// Returns the number of parts in a direction.
std::int64_t parts_in(std::span<const Turns> turns, Direction direction) {
  std::int64_t sum = 0;
  for (const Turns& list : turns) {
    sum += std::ranges::count(work_items_in_issue_order(list), direction,
                              &PipelineWorkPart::direction);
  }
  return sum;
}

/// Returns a pipeline of four positions whose split backward passes take 1 + 1, and whole ones
/// `backward`.
UnevenPipeline four(double backward) {
  const ModelChunkWorkSeconds part{.forward = 1, .backward = backward, .data = 1, .weight = 1};
  return activation_limited_pipeline(ModelChunkPlacement(ModelChunkPlacementKind::kV, 4, 1), 16,
                                     {.parts = {4, {part}}}, 4);
}

// 1F1B takes 19 (1 + 1.5) with whole backward passes; each one that is split costs its position
// half a unit.
TEST(FoundSchedule, CutsFewBackwardsWhereThatCosts) {
  const std::vector<Turns> turns = find_shortest_schedule_turns(four(1.5));
  ScheduleTurnSimulator player;
  const UnevenPipeline pipeline = four(1.5);
  EXPECT_LT(makespan_s(player.turn_end_seconds(turns, pipeline.placement, pipeline.seconds)), 47.5);
  EXPECT_LE(parts_in(turns, Direction::kDataGradient), 16);
  EXPECT_EQ(parts_in(turns, Direction::kDataGradient) + parts_in(turns, Direction::kBackward), 64);
}

TEST(FoundSchedule, CutsNoneThatThereIsNoRoomFor) {
  UnevenPipeline pipeline = four(2);
  for (auto& chunks : pipeline.kept) chunks.front().weight = 5;
  EXPECT_EQ(parts_in(find_shortest_schedule_turns(pipeline), Direction::kDataGradient), 0);
}

TEST(FoundSchedule, HasRoomForOneMicroBatchAtATime) {
  UnevenPipeline pipeline = four(1.5);
  pipeline.room.assign(4, 1);
  const std::vector<Turns> turns = find_shortest_schedule_turns(pipeline);
  ScheduleTurnSimulator player;
  EXPECT_DOUBLE_EQ(makespan_s(player.turn_end_seconds(turns, pipeline.placement, pipeline.seconds)),
                   16 * 8.5);
}

TEST(FoundSchedule, RefusesToHoldLessThanOneMicroBatch) {
  const ModelChunkWorkSeconds part{.forward = 1, .backward = 2, .data = 1, .weight = 1};
  EXPECT_THROW(
      find_shortest_schedule_turns(activation_limited_pipeline(
          ModelChunkPlacement(ModelChunkPlacementKind::kV, 2, 1), 2, {.parts = {2, {part}}}, 0.5)),
      Error);
}

TEST(FoundSchedule, TheSamePipelineHasTheSameOrder) {
  const Uneven u = cases().front();
  const ModelChunkPlacement placement(ModelChunkPlacementKind::kV, u.stages, 2);
  const auto find = [&] { return find_shortest_schedule_turns(pipeline_of(u, placement)); };
  const auto a = find();
  const auto b = find();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(work_items_in_issue_order(a[i]), work_items_in_issue_order(b[i]));
}

}  // namespace
}  // namespace stepwright::schedule
