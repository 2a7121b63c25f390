#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/frameworks.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// The values of every dimension of a job's search space: what the job lists, or every value that
/// can be legal. No value stands twice in a list.
struct Dimensions {
  std::vector<std::int64_t> tensor;
  std::vector<std::int64_t> context;
  std::vector<std::int64_t> pipeline;
  std::vector<std::int64_t> data;  ///< Empty: follows from the number of devices.
  std::vector<std::int64_t> expert;
  std::vector<std::int64_t> expert_tensor;
  std::vector<std::int64_t> micro_batch;
  std::vector<bool> sequence_parallel;
  std::vector<TensorInput> tensor_input;
  std::vector<ContextKind> context_kind;
  std::vector<Overlap> overlap;
  std::vector<RankOrder> rank_order;
  std::vector<ScheduleKind> schedule;
  std::vector<std::int64_t> chunks;
  std::vector<std::int64_t> strands;
  std::vector<std::vector<std::int64_t>> layers;
  std::vector<Recompute> recompute;
  std::vector<Sharding> sharding;
  std::vector<std::int64_t> group;  ///< `kNodeGroup` stands for the plan's own.
  std::vector<std::int64_t> expert_group;
  std::vector<DType> accumulate;
  std::vector<std::int64_t> gradient_bucket;
  std::vector<std::int64_t> parameter_bucket;
  CollectiveLists collectives;
  std::optional<FrameworkLaw> framework;  ///< Of a job that names one: it bounds the lists.

  /// Points of the product; at most the largest `std::int64_t`.
  [[nodiscard]] std::int64_t total() const;
};

/// Fails with `kInput` when a list holds a size below 1.
Dimensions dimensions(const Job& job);

/// Products that stop at the largest value instead of running over.
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t plus(std::int64_t a, std::int64_t b);

}  // namespace stepwright
