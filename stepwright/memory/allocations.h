#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Value of `PlannedBlock::unit` for memory that belongs to no layer, embedding or head.
inline constexpr std::int32_t kNoUnit = -9;

/// A block of memory that a plan predicts in PyTorch's allocator, on a rank of one pipeline
/// position.
struct PlannedBlock {
  MemoryKind kind = MemoryKind::kActivations;
  std::int64_t bytes = 0;
  /// Layer index from 0, `step::kEmbeddingUnit`, `step::kHeadUnit`, or `kNoUnit`.
  std::int32_t unit = kNoUnit;
  /// Part of the layer that allocates the block ("mlp.fc1"); for a model state, its parameter.
  std::string_view part{};
  /// Name of the tensor ("activation", "gradient"); for a model state, its kind.
  std::string_view tensor{};
};

/// Name of a block in messages, without its unit: "mlp.fc1: activation".
std::string block_name(const PlannedBlock& block);

/// Name of a unit in messages: "layer 3", "embedding", "head"; "" for `kNoUnit`.
std::string unit_name(std::int32_t unit);

/// Receives the allocations and frees of a step, in order. A block keeps its number until it is
/// freed; a later block may reuse the number.
struct AllocationConsumer {
  std::function<void(std::int64_t number, const PlannedBlock& block)> allocate;
  std::function<void(std::int64_t number)> free;
  /// Called when the step begins: the blocks allocated so far are those that exist between two
  /// steps.
  std::function<void()> begin_step;
};

/// Reports a step of one pipeline position block by block to `taker`: model states, memory that the
/// framework holds, and every tensor of the program. The largest sum of bytes is that of
/// `allocated_memory`.
void walk_allocations(const plan::Job& job, const step::StepProgram& program,
                      const step::Stage& stage, const AllocationConsumer& taker);

}  // namespace stepwright::memory
