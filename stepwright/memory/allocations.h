#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// The number of a block that belongs to no unit in `PlannedBlock::unit`.
inline constexpr std::int32_t kNoUnit = -9;

/// A block that a plan expects in PyTorch's allocator on a rank of one pipeline position.
struct PlannedBlock {
  MemoryKind kind = MemoryKind::kActivations;
  std::int64_t bytes = 0;
  std::int32_t unit = kNoUnit;  ///< Layer from 0, `step::kEmbeddingUnit` or `step::kHeadUnit`.
  /// Part of the layer that makes it ("mlp.fc1"); the parameter of a state.
  std::string_view part{};
  std::string_view tensor{};  ///< "activation", "gradient"; of a state its kind.
};

/// The name of a block for people, without its unit: "mlp.fc1: activation".
std::string block_name(const PlannedBlock& block);

/// The unit of a block for people: "layer 3", "embedding", "head"; "" for `kNoUnit`.
std::string unit_name(std::int32_t unit);

/// Takes the allocations and frees of a step, in order. A block's number is its own until it is
/// freed, and again that of a later one.
struct AllocationTaker {
  std::function<void(std::int64_t number, const PlannedBlock& block)> allocate;
  std::function<void(std::int64_t number)> free;
  /// All blocks so far are there between two steps; the step begins.
  std::function<void()> begin_step;
};

/// Walks a step of one pipeline position block by block: model states, what the framework holds
/// and every tensor of the program. The largest sum of bytes is that of `allocated_memory`.
void walk_allocations(const plan::Job& job, const step::StepProgram& program,
                      const step::Stage& stage, const AllocationTaker& taker);

}  // namespace stepwright::memory
