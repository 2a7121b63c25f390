#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Value of `PredictedAllocation::unit` for a block of memory that belongs to no layer, nor to the
/// embedding or the head.
inline constexpr std::int32_t kNoModelBlock = -9;

/// A predicted allocation in PyTorch's caching allocator, on one rank: its size and what it is for.
struct PredictedAllocation {
  MemoryKind kind = MemoryKind::kActivations;
  std::int64_t bytes = 0;
  /// Index of the layer (from 0) that the allocation belongs to, or `step::kEmbeddingBlockNumber`,
  /// `step::kHeadBlockNumber`, or `kNoModelBlock`.
  std::int32_t unit = kNoModelBlock;
  /// Part of the layer that makes the allocation ("mlp.fc1"); for a model state, the parameter's
  /// name.
  std::string_view part{};
  /// Name of the tensor ("activation", "gradient"); for a model state, its kind ("parameters").
  std::string_view tensor{};
};

/// Returns the name of a predicted allocation in messages, without its layer: "mlp.fc1:
/// activation".
std::string allocation_name(const PredictedAllocation& block);

/// Returns the name of the part of the model that an allocation belongs to: "layer 3", "embedding",
/// "head"; empty for `kNoModelBlock`.
std::string model_block_name(std::int32_t unit);

/// Callbacks that receive the predicted allocations and frees of a step, in order. An allocation
/// keeps its number until it is freed; later ones may reuse the number.
struct PredictedAllocationCallbacks {
  std::function<void(std::int64_t number, const PredictedAllocation& block)> allocate;
  std::function<void(std::int64_t number)> free;
  /// Called when a step begins, after the allocations that also exist between two steps.
  std::function<void()> begin_step;
};

/// Reports the predicted allocations and frees of one pipeline stage in a step to `taker`, in
/// order: model states, memory that the framework holds, and every tensor. The largest sum of bytes
/// equals the peak that `pytorch_allocated_memory` predicts.
void visit_predicted_allocations(const plan::Job& job, const step::StepProgram& program,
                                 const step::PipelineStageProgram& stage,
                                 const PredictedAllocationCallbacks& taker);

}  // namespace stepwright::memory
