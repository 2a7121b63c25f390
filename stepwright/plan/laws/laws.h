#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {

/// One rule of legality: its name, its text, its test and its repairs. A new rule is an enumerator
/// of `Rule` and a row at the same place in the table of its file. `broken` may assume that all
/// earlier laws hold; it does not allocate memory.
struct Law {
  Rule rule;
  std::string_view name;      ///< Name of the rule, as "heads-per-tensor".
  std::string_view sentence;  ///< Demand of the rule, without a full stop.
  bool (*broken)(const Job& job, const Plan& plan);
  /// Names the values that break the rule, as a sentence.
  std::string (*values)(const Job& job, const Plan& plan);
  /// Proposes plans that do not break the rule, nearest first.
  void (*repair)(Repairs& repairs);
  /// True if the rule depends only on the job: all plans of a job break it, or none.
  bool of_job = false;
  /// True if plans that break the rule are meaningful but no code covers them yet (`kUnsupported`);
  /// false: they are impossible (`kInput`).
  bool not_covered = false;
};

// Concatenated in this order, these tables are all rules in the order of `Rule`.
std::span<const Law> grid_laws();  ///< Laws of sizes, the number of ranks and the rank order.
/// Laws of tensor and context parallelism and of the sequence length.
std::span<const Law> cut_laws();
std::span<const Law> expert_laws();  ///< Laws of expert parallelism.
/// Laws of the collective algorithms of messages inside blocks.
std::span<const Law> block_collective_laws();
std::span<const Law> coverage_laws();  ///< Laws against plans that no builder covers yet.
std::span<const Law> schedule_laws();  ///< Laws of stages, chunks and the batch.
std::span<const Law> state_laws();     ///< Laws of how states are sharded.
/// Laws of the collective algorithms of sharding's messages.
std::span<const Law> data_collective_laws();
std::span<const Law> type_laws();     ///< Laws of recomputation and types.
std::span<const Law> offload_laws();  ///< Laws of states and activations in host memory.

/// Number of heads that tensor and Ulysses parallelism must split evenly: the common divisor of
/// heads and key-value heads (only heads with latent attention), and of the heads of mixers that
/// carry a state.
std::int64_t evenly_shared_heads(const model::Architecture& model);

}  // namespace stepwright::plan
