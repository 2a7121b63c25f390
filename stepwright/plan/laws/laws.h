#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/plan/laws/repair.h"

namespace stepwright::plan {

/// One rule of legality in full: a new one is an enumerator of `Rule` and a row in the table of its
/// file, at the same place. `broken` may rely on all laws before it and does not allocate.
struct Law {
  Rule rule;
  std::string_view name;      ///< Name of the rule, as "heads-per-tensor".
  std::string_view sentence;  ///< Demand of the rule, without a full stop.
  bool (*broken)(const Job& job, const Plan& plan);
  /// The values that break it, as a sentence.
  std::string (*values)(const Job& job, const Plan& plan);
  /// Proposes plans that do not break it, nearest first.
  void (*repair)(Repairs& repairs);
  /// True if it looks at the job alone: all plans of a job break it, or none.
  bool of_job = false;
  /// True if plans that break it mean something that nothing covers yet (`kUnsupported`), not
  /// something that cannot be (`kInput`).
  bool not_covered = false;
};

// In this order they are all rules, in the order of `Rule`.
std::span<const Law> grid_laws();              ///< Sizes, world, rank order.
std::span<const Law> cut_laws();               ///< Tensor and context parallelism, sequence length.
std::span<const Law> expert_laws();            ///< Laws of expert parallelism.
std::span<const Law> block_collective_laws();  ///< Algorithms of the messages inside blocks.
std::span<const Law> coverage_laws();          ///< Laws for what no builder writes yet.
std::span<const Law> schedule_laws();          ///< Laws of stages, chunks and the batch.
std::span<const Law> state_laws();             ///< Laws of how states are sharded.
std::span<const Law> data_collective_laws();   ///< Algorithms of the messages of sharding.
std::span<const Law> type_laws();              ///< Laws of recomputation and types.
std::span<const Law> offload_laws();           ///< Laws of what lies on the host.

/// The heads that tensor and Ulysses parallelism deal out evenly: the common divisor of heads and
/// key-value heads (with latent attention of heads), and of those of mixers that carry a state.
std::int64_t dealt_heads(const model::Architecture& model);

}  // namespace stepwright::plan
