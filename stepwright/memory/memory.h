#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright {

/// Kinds in which a stage's peak is told; they sum to it.
enum class MemoryKind : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizer,
  kActivations,
  kLogits,
  kGathered,
  kCommunication,
  kReserve,  ///< Framework, libraries, allocator rounding: a stated margin.
};
inline constexpr Named<MemoryKind> kMemoryKindNames[] = {
    {MemoryKind::kParameters, "parameters"},
    {MemoryKind::kGradients, "gradients"},
    {MemoryKind::kOptimizer, "optimizer"},
    {MemoryKind::kActivations, "activations"},
    {MemoryKind::kLogits, "logits"},
    {MemoryKind::kGathered, "gathered_parameters"},
    {MemoryKind::kCommunication, "communication_buffers"},
    {MemoryKind::kReserve, "framework_reserve"}};
inline constexpr int kMemoryKinds = 8;

struct StageMemory {
  double peak_bytes = 0;                     ///< A whole number.
  std::array<double, kMemoryKinds> kinds{};  ///< At the peak; their sum is `peak_bytes`.
};

/// What a plan may fill: the device's memory, or the job's limit.
double capacity_bytes(const Job& job);

struct MemoryReport {
  std::vector<StageMemory> stages;  ///< By pipeline position.
  double peak_bytes = 0;            ///< Of the largest stage.
  double capacity_bytes = 0;        ///< Of the job.
  [[nodiscard]] bool fits() const { return peak_bytes <= capacity_bytes; }
};

/// Bytes set aside for the framework (context, libraries, communicator buffers) and the share added
/// to dynamic allocations for rounding and fragmentation: documented margins, not tensors.
struct Reserve {
  double fixed_bytes = 0;
  double share = 0;

  /// The whole bytes set aside beside `dynamic_bytes` of tensors that come and go.
  [[nodiscard]] double bytes(double dynamic_bytes) const;
};

/// Context, kernels and communicators of a rank: the constant of a fit to 651 fits / out-of-memory
/// labels of public runs on 80 GB devices. Its order of magnitude is what counts: with tensors from
/// the program, 1 GiB more or less changes a hundredth of the labels.
inline constexpr double kFrameworkBytes = 2.7 * 1024 * 1024 * 1024;
/// At most this share of a device: a small one (a lab's, a laptop's) has fewer kernels and
/// channels.
inline constexpr double kFrameworkShareOfDevice = 1.0 / 16;
/// PyTorch's caching allocator rounds blocks above 10 MiB up to 2 MiB: 1 MiB in the mean, 3 % of a
/// tensor of 32 MiB (4,096 tokens by 4,096 in bf16); 2 % for fragmentation. Not the 25 % that
/// closed forms were fitted with: most of that stands for transients, which are counted here.
inline constexpr double kRoundingShare = 0.05;

/// The margins of a job.
Reserve framework_reserve(const Job& job);

/// Peak of every stage by walking the schedule: states, what waits for its backward, and the
/// largest transient, exact for the program's own order of issue (`memory/sequences.h`).
MemoryReport memory_report(const Job& job, const StepProgram& program);

/// The kind that is largest at the peak of the largest stage.
MemoryKind largest_kind(const MemoryReport& report);

}  // namespace stepwright
