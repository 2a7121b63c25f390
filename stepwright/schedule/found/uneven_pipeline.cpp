#include "stepwright/schedule/found/uneven_pipeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepwright::schedule {
namespace {

/// Relative difference below which two sums of sizes count as equal.
constexpr double kSizeRounding = 1e-9;
constexpr double kNanosecond = 1e-9;
/// Least seconds of a part over the longest part's, so that sums of times always differ.
constexpr double kShortest = 1e-7;

/// Lengthens parts that are too short to change a sum of times. Chunks without weight gradients
/// keep none.
PipelineScheduleSeconds told_apart(PipelineScheduleSeconds seconds) {
  double longest_s = 0;
  for (const std::vector<ModelChunkWorkSeconds>& position : seconds.parts) {
    for (const ModelChunkWorkSeconds& part : position) {
      longest_s = std::max({longest_s, part.forward, part.backward, part.data + part.weight});
    }
  }
  const double least_s = longest_s > 0 ? longest_s * kShortest : kNanosecond;
  for (std::vector<ModelChunkWorkSeconds>& position : seconds.parts) {
    for (ModelChunkWorkSeconds& part : position) {
      for (double* own_s : {&part.forward, &part.backward, &part.data}) {
        *own_s = std::max(*own_s, least_s);
      }
      if (part.weight > 0) part.weight = std::max(part.weight, least_s);
    }
  }
  return seconds;
}

}  // namespace

UnevenPipeline activation_limited_pipeline(const ModelChunkPlacement& placement,
                                           std::int64_t micro_batches,
                                           PipelineScheduleSeconds seconds, double activations) {
  const auto positions = static_cast<std::size_t>(placement.positions());
  const auto chunks = static_cast<std::size_t>(placement.chunks());
  const double held = activations * static_cast<double>(chunks);
  return {.placement = placement,
          .micro_batches = micro_batches,
          .seconds = told_apart(std::move(seconds)),
          .kept = {positions, std::vector<ModelChunkKeptMemory>(chunks)},
          .room = std::vector<double>(positions, std::floor(held + kSizeRounding))};
}

UnevenPipeline pipeline_for_order_search(const OrderSearchBasis& basis,
                                         const ModelChunkPlacement& placement,
                                         std::int64_t micro_batches) {
  const auto positions = static_cast<std::size_t>(placement.positions());
  const auto chunks = static_cast<std::size_t>(placement.chunks());
  UnevenPipeline pipeline{
      .placement = placement,
      .micro_batches = micro_batches,
      .seconds = {.parts = {positions, std::vector<ModelChunkWorkSeconds>(chunks)},
                  .hop_s = kNanosecond * static_cast<double>(basis.hop_ns)},
      .kept = {positions, std::vector<ModelChunkKeptMemory>(chunks)},
      .room = {basis.room_bytes.begin(), basis.room_bytes.end()}};
  for (std::size_t i = 0; i < basis.chunks.size(); ++i) {
    const ModelChunkPosition place = placement.place_of_model_chunk(static_cast<std::int64_t>(i));
    const auto position = static_cast<std::size_t>(place.position);
    const auto chunk = static_cast<std::size_t>(place.chunk);
    const ModelChunkTimeAndMemory& load = basis.chunks[i];
    pipeline.seconds.parts[position][chunk] = {
        .forward = kNanosecond * static_cast<double>(load.forward_ns),
        .backward = kNanosecond * static_cast<double>(load.backward_ns),
        .data = kNanosecond * static_cast<double>(load.data_ns),
        .weight = kNanosecond * static_cast<double>(load.weight_ns)};
    pipeline.kept[position][chunk] = {.forward = static_cast<double>(load.forward_bytes),
                                      .weight = static_cast<double>(load.weight_bytes)};
  }
  pipeline.seconds = told_apart(std::move(pipeline.seconds));
  return pipeline;
}

std::vector<ModelChunkRemainingTime> model_chunk_remaining_times(const UnevenPipeline& pipeline) {
  std::vector<ModelChunkRemainingTime> routes;
  const auto part = [&](const ModelChunkRemainingTime& route) -> const ModelChunkWorkSeconds& {
    return pipeline.seconds.parts[static_cast<std::size_t>(route.holder.position)]
                                 [static_cast<std::size_t>(route.holder.chunk)];
  };
  double behind_s = 0;
  for (std::int64_t i = 0; i < pipeline.placement.model_chunk_count(); ++i) {
    const ModelChunkPosition holder = pipeline.placement.place_of_model_chunk(i);
    const bool sent = i > 0 && holder.position != routes.back().holder.position;
    routes.push_back({.holder = holder, .hop_s = sent ? pipeline.seconds.hop_s : 0});
    behind_s += routes.back().hop_s;
    routes.back().behind_backward_s = behind_s;
    behind_s += std::min(part(routes.back()).data, part(routes.back()).backward);
  }
  for (auto route = routes.rbegin(); route != routes.rend(); ++route) {
    route->behind_forward_s = behind_s;
    behind_s += part(*route).forward + route->hop_s;
  }
  return routes;
}

double KeptMemoryTracker::kept_memory_change_of_part(const PipelineWorkPart& part) const {
  const ModelChunkKeptMemory& size = kept_[static_cast<std::size_t>(part.chunk)];
  switch (part.direction) {
    case Direction::kForward: return size.forward;
    case Direction::kBackward: return -size.forward;
    case Direction::kDataGradient: return size.weight - size.forward;
    case Direction::kWeightGradient: return -size.weight;
    default: break;
  }
  return 0;
}

bool KeptMemoryTracker::has_free_activation_memory(double more) const {
  return now_ + more <= room_ * (1 + kSizeRounding);
}

bool has_free_activation_memory(const UnevenPipeline& pipeline, std::size_t position,
                                std::span<const PipelineWorkPart> order, double kept) {
  KeptMemoryTracker keeping(pipeline, position, kept);
  return std::ranges::all_of(order, [&](const PipelineWorkPart& part) {
    const bool fits =
        keeping.has_free_activation_memory(std::max(0.0, keeping.kept_memory_change_of_part(part)));
    keeping.run(part);
    return fits;
  });
}

}  // namespace stepwright::schedule
