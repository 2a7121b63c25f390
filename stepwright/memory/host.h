#pragma once

#include <array>
#include <cstdint>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Kinds in which the memory of a host is told; they sum to it.
enum class HostKind : std::uint8_t {
  kStates,       ///< Moments, parameters and other models that plans leave there.
  kActivations,  ///< Tensors that wait there for their backward.
  kPinned,       ///< Buffers of transfers and copies beside states (`host_share` of a framework).
  kGradients,    ///< Gradients of parameters that the host updates.
  kProcesses,    ///< Each rank's process: libraries and CUDA's context.
  kLoaders,      ///< Processes that load data, with the batches that wait there.
  kLoading,      ///< Part of a checkpoint, at the start, above the sum of the others.
};
inline constexpr Named<HostKind> kHostKindNames[] = {
    {HostKind::kStates, "states"},       {HostKind::kActivations, "activations"},
    {HostKind::kPinned, "pinned"},       {HostKind::kGradients, "gradients"},
    {HostKind::kProcesses, "processes"}, {HostKind::kLoaders, "loaders"},
    {HostKind::kLoading, "loading"}};
inline constexpr int kHostKinds = 7;

using HostBytes = std::array<double, kHostKinds>;

double total_bytes(const HostBytes& kinds);

/// Returns what the host of the node with most holds, by kind: what plans leave there, the
/// processes of its ranks with those that load their data, and the checkpoint that a fine-tuning
/// run loads. No page cache.
HostBytes host_bytes(const plan::Job& job, const step::StepProgram& program);

}  // namespace stepwright::memory
