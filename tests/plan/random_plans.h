#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// A source of random choices, the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// An integer from 0 to below `count`.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

  template <class Value>
  Value pick(const std::vector<Value>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// A dense model of 8 layers, 8 heads (4 kv_heads), length 64, on 2 nodes of 8 devices, 32
/// sequences.
Job small_job();

/// A small job with 8 experts in all layers but the first.
Job small_expert_job();

/// A cluster of levels node and network.
cluster::Cluster small_cluster(std::int64_t nodes, std::int64_t devices_per_node);

/// A small job, dense or with experts, with sizes that often do not divide each other.
Job random_job(Dice& dice);

/// One of those for which there are legal plans.
Job random_good_job(Dice& dice);

/// A plan whose values are near those of legal plans of the job, but seldom all legal.
Plan random_plan(Dice& dice, const Job& job);

/// A legal plan: tries until there is one.
Plan random_legal_plan(Dice& dice, const Job& job);

}  // namespace stepwright::plan
