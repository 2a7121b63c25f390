#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "stepwright/simulate/price/pricer.h"
#include "stepwright/step/data_messages.h"

namespace stepwright::simulate {

/// Several data-parallel messages of one pipeline rank (parameter gathers or gradient reductions)
/// that are counted as equal.
struct PositionDataParallelMessages {
  step::DataParallelMessageMoment moment{};
  step::OperatorKind kind{};
  plan::CommunicatorKind group{};
  DType type{};
  double elements = 0;  ///< Number of elements of all these messages together.
  double count = 1;
  /// Upper limit of the number of elements of one message.
  double largest = std::numeric_limits<double>::infinity();
  step::ParallelismScheme scheme = step::ParallelismScheme::kData;
};

/// Returns the sizes of the small reductions in which a pipeline rank takes part at the end of a
/// step.
inline step::StepEndSumSizes step_end_reductions(const plan::Job& job, const plan::Plan& plan,
                                                 const PipelinePositionCost& stage) {
  return {.partial = stage.size.partial,
          .expert_partial = stage.size.expert_partial,
          .tied_table = stage.tied_table,
          .loss = stage.head,
          .experts = job.model.experts.has_value(),
          .loads = stage.corrected == 0 ? 0 : stage.corrected * job.model.experts->count,
          .shares_rows = plan.sequence_parallel && plan.parallel.tensor > 1};
}

/// Returns the number of buckets into which a pipeline rank's gradients are cut, if it has one
/// chunk of equal blocks. Each bucket ends with the block that fills it.
inline std::int64_t gradient_bucket_count(const plan::Plan& plan,
                                          const PipelinePositionCost& stage) {
  if (!step::reduces_in_buckets(plan)) return 1;
  const std::int64_t blocks = std::max<std::int64_t>(stage.trained_units, 1);
  const std::int64_t each = (stage.size.dense + stage.size.expert) / blocks;
  const std::int64_t filling = ceil_divide(plan.gradient_bucket, std::max<std::int64_t>(each, 1));
  return ceil_divide(blocks, std::clamp<std::int64_t>(filling, 1, blocks));
}

/// Returns an upper limit of the elements of one message if between `least` and `most` elements are
/// cut into buckets of `bucket` elements. With n or more full buckets, a message has less than (n +
/// 1) / n buckets.
inline double largest_bucket_piece_elements(double least, double most, std::int64_t bucket) {
  const auto whole = static_cast<double>(bucket);
  if (bucket <= 0 || most < 2 * whole) return most;
  const double buckets = std::max(1.0, std::floor(least / whole));
  return whole * (buckets + 1) / buckets;
}

/// Returns an upper limit of the elements of one data-parallel message at a moment of a step,
/// whatever the pipeline rank's chunks and the order of its blocks. `parts`: number of ranks'
/// shares into which a payload is cut.
inline double largest_data_parallel_message_elements(const plan::Plan& plan,
                                                     const PipelinePositionCost& stage,
                                                     const step::ShardingGroups& spread,
                                                     step::DataParallelMessageMoment moment,
                                                     double parts) {
  const auto payload = [&](const step::ModelBlockParameterCounts& size) {
    return static_cast<double>(spread.data_parallel_payload_elements(size, moment));
  };
  double least = payload(stage.size);
  double most = least;
  const bool in_buckets = step::moment_carries_gradients(moment) && step::reduces_in_buckets(plan);
  const bool in_blocks = moment == step::DataParallelMessageMoment::kEachUse ||
                         (moment == step::DataParallelMessageMoment::kAfterStep &&
                          step::gathers_updates_by_block(plan));
  if (in_buckets || in_blocks) {
    least = payload(stage.blocks.least);
    // A bucket that is not full takes one more block.
    const auto open = static_cast<double>(in_buckets ? plan.gradient_bucket : 0);
    most = std::min(most, payload(stage.blocks.most) + open);
  }
  return largest_bucket_piece_elements(least / parts, most / parts,
                                       step::bucket_elements(plan, moment));
}

/// Visits the data-parallel messages (`PositionDataParallelMessages`) of dense or of routed
/// (expert) parameters of a pipeline rank, computed from parameter counts: as many messages as the
/// program builder writes, each of the mean size of its kind, without padding. Counts are exact
/// unless unequal blocks or several chunks cut gradients into pieces. Then, for n elements in
/// buckets of B elements, both counts are at least n / 2B and at most n / B plus a surplus: for
/// gathers one per block, for reductions one per chunk and per B elements of all gradients.
/// Allocates nothing.
template <class VisitorCallback>
void each_message(const plan::Job& job, const plan::Plan& plan, const PipelinePositionCost& stage,
                  const step::ShardingGroups& spread, VisitorCallback&& visit) {
  if (spread.sharded_trained_elements(stage.size) + spread.frozen(stage.size) == 0) return;
  const std::int64_t blocks =
      std::max<std::int64_t>(spread.routed ? stage.routed_units : stage.units, 1);
  const std::int64_t buckets = gradient_bucket_count(plan, stage);
  const auto times_of = [&](step::DataParallelMessageMoment moment) -> std::int64_t {
    if (moment == step::DataParallelMessageMoment::kEachUse) return blocks;
    if (moment == step::DataParallelMessageMoment::kAfterStep)
      return step::gathers_updates_by_block(plan) ? blocks : 1;
    return std::min(blocks, buckets);
  };
  for (const step::DataParallelMessageMoment moment :
       {step::DataParallelMessageMoment::kEachUse, step::DataParallelMessageMoment::kAfterStep,
        step::DataParallelMessageMoment::kEachBackward,
        step::DataParallelMessageMoment::kLastBackward}) {
    const std::int64_t payload = spread.data_parallel_payload_elements(stage.size, moment);
    if (payload == 0) continue;
    const std::int64_t bucket = step::bucket_elements(plan, moment);
    const std::int64_t times = times_of(moment);
    for (const step::DataMessage& message : step::data_parallel_messages_of_sharding(
             plan.sharding, moment, job.kernels.scattered_gradients)) {
      const std::int64_t parts = spread.message_payload_divisor(message.reach);
      const std::int64_t pieces =
          times * step::bucketed_message_pieces(payload / parts / times, bucket);
      visit(PositionDataParallelMessages{
          .moment = moment,
          .kind = message.kind,
          .group = spread.group(message.reach),
          .type =
              step::data_parallel_message_dtype(moment, plan::parameter_storage_type(job.precision),
                                                plan.accumulate, job.kernels.wide_gradients),
          .elements = static_cast<double>(payload) / static_cast<double>(parts),
          .count = static_cast<double>(pieces),
          .largest = largest_data_parallel_message_elements(plan, stage, spread, moment,
                                                            static_cast<double>(parts))});
    }
  }
}

}  // namespace stepwright::simulate
