#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Kinds of host memory; the total is their sum.
enum class HostKind : std::uint8_t {
  kStates,  ///< Optimizer moments, parameters and other models that a plan keeps in host memory.
  kActivations,  ///< Activations kept in host memory until their backward.
  /// Buffers of transfers, and copies in addition to states (`host_share` of a framework).
  kPinned,
  kGradients,  ///< Bytes of gradients of parameters that the host updates.
  kProcesses,  ///< Bytes of each rank's process: libraries and CUDA's context.
  kLoaders,    ///< Processes that load data, with the batches that they hold.
  /// Bytes of a checkpoint loaded at the start, as far as they exceed the sum of the other kinds.
  kLoading,
};
inline constexpr Named<HostKind> kHostKindNames[] = {
    {HostKind::kStates, "states"},       {HostKind::kActivations, "activations"},
    {HostKind::kPinned, "pinned"},       {HostKind::kGradients, "gradients"},
    {HostKind::kProcesses, "processes"}, {HostKind::kLoaders, "loaders"},
    {HostKind::kLoading, "loading"}};
inline constexpr int kHostKinds = 7;

using HostBytes = std::array<double, kHostKinds>;

double total_bytes(const HostBytes& kinds);

/// Returns the bytes, by kind, on the host of the node with the most: states and activations that
/// plans keep there, the processes of its ranks and their data loaders, and the checkpoint that a
/// fine-tuning run loads. The page cache is not counted.
HostBytes host_bytes(const plan::Job& job, const step::StepProgram& program);

}  // namespace stepwright::memory
