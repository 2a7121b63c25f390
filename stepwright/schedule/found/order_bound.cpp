#include "stepwright/schedule/found/order_bound.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace stepwright::schedule {
namespace {

/// Times of a single micro-batch that passes alone through a pipeline's chunks in model order.
class Passage {
 public:
  explicit Passage(const UnevenPipeline& pipeline) : pipeline_(pipeline) {
    const std::int64_t count = pipeline.placement.model_chunk_count();
    double forward_s = 0;
    double backward_s = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) forward_s += hop_s(i - 1, i);
      fill_s_.push_back(forward_s);
      forward_s += part(i).forward;
    }
    all_forward_s_ = forward_s;
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) backward_s += hop_s(i - 1, i);
      drain_s_.push_back(backward_s);
      backward_s += gradient_s(part(i));
    }
    all_backward_s_ = backward_s;
  }

  /// Least seconds until a chunk can pass its gradients on.
  static double gradient_s(const ModelChunkWorkSeconds& part) {
    return std::min(part.data, part.backward);
  }

  /// Least seconds before a chunk's first forward (`fill_s`), before its first backward (`turn_s`),
  /// and after its last backward (`drain_s`).
  [[nodiscard]] double fill_s(std::int64_t chunk) const {
    return fill_s_[static_cast<std::size_t>(chunk)];
  }
  [[nodiscard]] double turn_s(std::int64_t chunk) const {
    return all_forward_s_ + all_backward_s_ - drain_s(chunk) - gradient_s(part(chunk));
  }
  [[nodiscard]] double drain_s(std::int64_t chunk) const {
    return drain_s_[static_cast<std::size_t>(chunk)];
  }

 private:
  [[nodiscard]] const ModelChunkWorkSeconds& part(std::int64_t chunk) const {
    const auto [position, own] = pipeline_.placement.place_of_model_chunk(chunk);
    return pipeline_.seconds
        .parts[static_cast<std::size_t>(position)][static_cast<std::size_t>(own)];
  }
  [[nodiscard]] double hop_s(std::int64_t a, std::int64_t b) const {
    const ModelChunkPlacement& placement = pipeline_.placement;
    const bool same =
        placement.place_of_model_chunk(a).position == placement.place_of_model_chunk(b).position;
    return same ? 0 : pipeline_.seconds.hop_s;
  }

  const UnevenPipeline& pipeline_;
  std::vector<double> fill_s_;
  std::vector<double> drain_s_;
  double all_forward_s_ = 0;
  double all_backward_s_ = 0;
};

/// Returns the least seconds from the first to the last part of the step, as one position of
/// `pipeline` bounds them.
double position_time_lower_bound_s(const UnevenPipeline& pipeline, const Passage& passage,
                                   std::int64_t position) {
  const auto& parts = pipeline.seconds.parts[static_cast<std::size_t>(position)];
  const auto count = static_cast<double>(pipeline.micro_batches);
  double work_s = 0;
  double forwards_s = 0;
  double pace = 0;  // Most seconds of forwards for each unit of kept memory.
  double longest_weight_s = 0;
  double cut_s = std::numeric_limits<double>::infinity();
  double begin_s = std::numeric_limits<double>::infinity();
  double turn_s = begin_s;
  double drain_s = begin_s;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ModelChunkWorkSeconds& part = parts[i];
    const double both_s = part.data + part.weight;
    const double least_s = std::min(part.backward, both_s);
    work_s += part.forward + least_s;
    forwards_s += part.forward;
    const double kept = pipeline.kept[static_cast<std::size_t>(position)][i].forward;
    pace = std::max(pace, part.forward / kept);
    longest_weight_s = std::max(longest_weight_s, part.weight);
    cut_s = std::min(cut_s, both_s - least_s);
    const std::int64_t chunk =
        pipeline.placement.model_chunk_index({position, static_cast<std::int64_t>(i)});
    begin_s = std::min(begin_s, passage.fill_s(chunk));
    turn_s = std::min(turn_s, passage.turn_s(chunk));
    drain_s = std::min(drain_s, passage.drain_s(chunk));
  }
  const double chunks = static_cast<double>(parts.size());
  const double room = pipeline.room[static_cast<std::size_t>(position)];
  const double before_s = std::min(count * forwards_s, room * pace);
  begin_s = std::max(begin_s, turn_s - before_s);
  double end_s = drain_s;
  for (double cut = 1; cut <= count * chunks && cut * cut_s < end_s; ++cut) {
    end_s = std::min(end_s, std::max(0.0, drain_s - cut * longest_weight_s) + cut * cut_s);
  }
  return begin_s + count * work_s + end_s;
}

}  // namespace

double makespan_lower_bound_s(const UnevenPipeline& pipeline) {
  const Passage passage(pipeline);
  double least_s = 0;
  for (std::int64_t i = 0; i < pipeline.placement.positions(); ++i) {
    least_s = std::max(least_s, position_time_lower_bound_s(pipeline, passage, i));
  }
  return least_s;
}

}  // namespace stepwright::schedule
