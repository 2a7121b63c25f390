#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/memory/fit_verdict.h"
#include "stepwright/memory/host.h"
#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

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

/// The kind of memory that tensors of each `step::TensorKind` count as.
inline constexpr MemoryKind kKindOfTensors[] = {MemoryKind::kActivations, MemoryKind::kLogits,
                                                MemoryKind::kGathered, MemoryKind::kCommunication};
static_assert(std::size(kKindOfTensors) == step::kTensorKinds);

struct StageMemory {
  double peak_bytes = 0;                     ///< A whole number of bytes.
  std::array<double, kMemoryKinds> kinds{};  ///< At the peak; their sum is `peak_bytes`.
};

/// Probability of fitting that plans are asked for where a job says nothing. Of a limit, which a
/// person has stated, the account itself is asked to stay below it.
inline constexpr double kMemoryConfidence = 0.9;

/// Load of the busiest expert rank over the mean for which memory is set aside where a job's own
/// `imbalance` is less. Assumed: balanced routers stay below it after their first steps.
inline constexpr double kExpertImbalance = 1.2;

/// The device's memory, or the job's limit.
double capacity_bytes(const plan::Job& job);

/// The probability of fitting that a job's plans are asked for; 0 where only the account is asked.
double fit_confidence(const plan::Job& job);

/// The bytes that plans may fill of it: as much as fits with that probability (`share_at`), or all
/// but the reserve that the job states.
double usable_bytes(const plan::Job& job);

/// Load of the busiest expert rank over the mean for which memory is set aside where experts are
/// spread and the job's own load (`plan::busiest_load`) is less: `kExpertImbalance`, or 1 where the
/// job keeps no memory free.
double held_load(const plan::Job& job);

struct MemoryReport {
  std::vector<StageMemory> stages;  ///< One for each pipeline position.
  double peak_bytes = 0;            ///< The peak of the largest stage.
  double capacity_bytes = 0;        ///< The capacity that the job has.
  /// The bytes that the largest stage needs more when experts are loaded by `held_load`.
  double uneven_bytes = 0;
  /// The bytes of the capacity kept free: all that is not usable, and `uneven_bytes`.
  double reserve_bytes = 0;
  HostBytes host_kinds{};  ///< Bytes of the node whose host holds most.
  /// Their sum, and what such a host has: 0 where the cluster does not say.
  double host_bytes = 0;
  double host_capacity_bytes = 0;
  double p_fits = 1;      ///< Probability that peak and `uneven_bytes` fit in the capacity.
  double confidence = 0;  ///< The probability that the job asks for (`fit_confidence`).

  [[nodiscard]] double needed_bytes() const { return peak_bytes + uneven_bytes; }
  [[nodiscard]] double usable_bytes() const { return capacity_bytes - reserve_bytes; }
  [[nodiscard]] bool fits_devices() const { return peak_bytes <= usable_bytes(); }
  [[nodiscard]] bool fits_hosts() const {
    return host_capacity_bytes == 0 || host_bytes <= host_capacity_bytes;
  }
  /// True if the plan leaves something to hosts, beside what processes hold there anyway.
  [[nodiscard]] bool leaves_to_hosts() const;
  [[nodiscard]] bool fits() const { return fits_devices() && fits_hosts(); }
  /// Returns whether the job fits. A job that a host has no room for does not fit. Where the
  /// account alone is asked (`confidence` 0) no job is tight.
  [[nodiscard]] FitVerdict verdict() const;
  /// Above 0 when it does not fit: of a device, or where devices have room of the host of a node.
  [[nodiscard]] double over_by_bytes() const {
    const double over = peak_bytes - usable_bytes();
    return over > 0 || fits() ? over : host_bytes - host_capacity_bytes;
  }
};

/// Bytes set aside for the framework (context, libraries, communicator buffers) and the share added
/// to dynamic allocations for rounding and fragmentation: documented margins, not tensors.
struct Reserve {
  double fixed_bytes = 0;
  double share = 0;
  double parameter_share =
      0;  ///< Flat copies and buckets, of the trained parameters that it stores.
  double optimizer_share = 0;  ///< Share of its optimizer states.

  /// The whole bytes set aside beside `dynamic_bytes` of tensors that come and go and beside stored
  /// parameters and optimizer states.
  [[nodiscard]] double bytes(double dynamic_bytes, double parameter_bytes = 0,
                             double optimizer_bytes = 0) const;
};

/// Context, kernels and workspaces of a process without communicators: what nvidia-smi showed above
/// the allocator's, the same in 71 runs of one H100 (data/own_memory_h100.csv).
inline constexpr double kContextBytes = 1.2 * 1024 * 1024 * 1024;
/// Context, kernels and workspaces of a process with communicators: the constant of a fit to 651
/// fits / out-of-memory labels of public runs on 80 GB devices. Its order of magnitude is what
/// counts: with tensors from the program, 1 GiB more or less changes a hundredth of the labels.
inline constexpr double kFrameworkBytes = 2.7 * 1024 * 1024 * 1024;
/// The largest share of a device that a framework keeps: a small one (a lab's, a laptop's) has
/// fewer kernels and channels.
inline constexpr double kFrameworkShareOfDevice = 1.0 / 6;
/// True if the framework of a job lets go of gradients before each step. Where a step has one
/// backward its largest moment then comes before they are made.
bool makes_gradients_late(const plan::Job& job);

/// The margins of a job, under its framework (`MemoryMargins`).
Reserve framework_reserve(const plan::Job& job);

/// Peak of every stage by walking the schedule: states, what waits for its backward, and the
/// largest transient, exact for the program's own order of issue (`memory/sequences.h`).
MemoryReport memory_report(const plan::Job& job, const step::StepProgram& program);

/// The memory of a stage around one slot of its schedule.
struct MemoryMoment {
  StageMemory during;  ///< At the slot's largest moment.
  StageMemory after;   ///< Until the next slot begins.
};

/// The account of every stage slot by slot, in the order of its schedule: the largest `during` of a
/// stage is what `memory_report` says of it, or the update with all gradients where that is larger.
std::vector<std::vector<MemoryMoment>> memory_moments(const plan::Job& job,
                                                      const step::StepProgram& program);

/// The kind that is largest at the peak of the largest stage.
MemoryKind largest_kind(const MemoryReport& report);

/// The part that is named where devices alone would have room.
inline constexpr std::string_view kHostMemoryPart = "host_memory";
/// Returns the name of what fills most of the memory that is not enough: `largest_kind`, or the
/// host's part.
std::string_view largest_part(const MemoryReport& report);

}  // namespace stepwright::memory
