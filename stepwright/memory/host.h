#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Kinds of host memory that a training job uses; its host memory is their sum.
enum class HostMemoryKind : std::uint8_t {
  /// Offloaded optimizer states, parameters and other models, which the plan keeps in host memory.
  kStates,
  kActivations,  ///< Bytes of offloaded activations, kept in host memory until their backward.
  /// Pinned buffers for transfers, and additional copies of offloaded states that the framework
  /// makes.
  kPinned,
  kGradients,  ///< Bytes of gradients of parameters that the host's CPUs update.
  kProcesses,  ///< Bytes of each rank's process: libraries and CUDA's context.
  kLoaders,    ///< Bytes of data loader processes and of the batches that they hold.
  /// Bytes of a checkpoint loaded at the start, as far as they exceed the sum of all other kinds.
  kLoading,
};
inline constexpr Named<HostMemoryKind> kHostKindNames[] = {
    {HostMemoryKind::kStates, "states"},       {HostMemoryKind::kActivations, "activations"},
    {HostMemoryKind::kPinned, "pinned"},       {HostMemoryKind::kGradients, "gradients"},
    {HostMemoryKind::kProcesses, "processes"}, {HostMemoryKind::kLoaders, "loaders"},
    {HostMemoryKind::kLoading, "loading"}};
inline constexpr int kHostKinds = 7;

using HostBytes = std::array<double, kHostKinds>;

double total_bytes(const HostBytes& kinds);

/// Returns the bytes by kind on the node whose host holds the most: offloaded states and
/// activations, the processes of its ranks, their data loaders, and a checkpoint loaded for
/// fine-tuning. The page cache is not counted.
HostBytes host_bytes(const plan::Job& job, const step::StepProgram& program);

}  // namespace stepwright::memory
