#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// A source of random choices; the same ones on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  /// Returns an integer from 0 up to, but excluding, `count`.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

  template <class Value>
  Value pick(const std::vector<Value>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// Returns a job with a dense model of 8 layers, 8 heads (4 kv_heads), length 64, on 2 nodes of 8
/// devices, 32 sequences.
Job small_job();

/// Returns a small job with 8 experts in all layers except the first.
Job small_expert_job();

/// Returns a cluster with the levels node and network.
cluster::Cluster small_cluster(std::int64_t nodes, std::int64_t devices_per_node);

/// Returns a small job, dense or with experts, whose sizes often do not divide each other.
Job random_job(Dice& dice);

/// Returns a random job that has legal plans.
Job random_good_job(Dice& dice);

/// Returns a plan with values similar to those of the job's legal plans; it is seldom legal itself.
Plan random_plan(Dice& dice, const Job& job);

/// Returns a legal random plan, by trying until one is legal.
Plan random_legal_plan(Dice& dice, const Job& job);

}  // namespace stepwright::plan
