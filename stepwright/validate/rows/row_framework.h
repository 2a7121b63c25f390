#pragma once

#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// How a stack deals layers to the stages of a pipeline: evenly, by equal numbers of modules
/// (`layers_by_modules`), or by what they cost (`layers_by_costs`).
enum class StageSplit : std::uint8_t { kEven, kModules, kCosts };

/// What a training stack does when a row says nothing else.
struct Stack {
  std::string_view framework;  ///< Of `kFrameworkNames`; empty: unknown.
  /// Where it is another one than that of the framework's table.
  std::optional<AttentionKernel> attention;
  bool overlaps_data = false;          ///< Gradients and parameters beside computation.
  bool overlaps_pipeline = false;      ///< Pipeline messages too, where stages are interleaved.
  bool reduces_stored_type = false;    ///< Gradients in the type of the parameters, not fp32.
  bool distributed_optimizer = false;  ///< When the row is silent.
  bool sequence_parallel = false;      ///< The same, with tensor parallelism.
  bool gathers_logits = false;
  bool scatters_pipeline = false;
  /// No asynchronous tensor messages in the backward (Megatron-LM before sequence parallelism).
  bool waits_for_tensor = false;
  bool keeps_gathered = false;  ///< Inputs gathered for a product are kept for its gradient.
  bool adds_gradients = false;  ///< Of weights, by a kernel of its own.
  bool overlaps_unsharded_only = false;  ///< Data messages, where the optimizer is not sharded.
  StageSplit split = StageSplit::kEven;
  /// Bytes that fill a bucket of DistributedDataParallel, of gradients in the parameters' type,
  /// where they are reduced beside the backward; else all in one message. 0: as plans do.
  std::int64_t replicated_bucket = 0;
  bool reduces_whole = false;   ///< Gradients of a sharded optimizer: to all ranks, not scattered.
  bool reduces_wide = false;    ///< Gradients in fp32, whatever type they are summed in.
  bool splits_gate = false;     ///< A product of its own for the gate of an MLP.
  bool narrow_moments = false;  ///< Moments in bf16 for models with latent attention.
};

/// The stack of a row's framework.
const Stack& stack_of(const RunRow& row);

/// Name and release ("26.02", "4.1", "2.x") of the framework.
Framework row_framework(const RunRow& row);

/// The kernels that the row's remarks state, or else its stack's on that device.
Kernels row_kernels(const RunRow& row, const Device& device);

/// Megatron-Bridge's recipes of models with latent attention (DeepSeek-V3, Moonlight, Kimi) keep
/// the moments in bf16.
Optimizer row_optimizer(const RunRow& row, const Architecture& model);

/// Which communication overlaps, by the remarks or else the stack.
Overlap row_overlap(const RunRow& row);

}  // namespace stepwright
