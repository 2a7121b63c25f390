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

/// Kinds of device memory; a stage's peak is their sum.
enum class MemoryKind : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizer,
  kActivations,
  kLogits,
  kGathered,
  kCommunication,
  /// Memory kept free for the framework, libraries and allocator rounding: a stated margin.
  kReserve,
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
  double peak_bytes = 0;  ///< Peak bytes of the stage, a whole number.
  /// Bytes by kind at the peak; their sum is `peak_bytes`.
  std::array<double, kMemoryKinds> kinds{};
};

/// Probability of fitting that plans must reach if a job states none. If a job states a memory
/// limit, only the account itself must stay below it.
inline constexpr double kMemoryConfidence = 0.9;

/// Load of the busiest expert rank over the mean for which memory is kept free if the job's own
/// `imbalance` is lower. Assumed: balanced routers stay below it after their first steps.
inline constexpr double kExpertImbalance = 1.2;

/// Bytes of the device's memory, or of the job's limit.
double capacity_bytes(const plan::Job& job);

/// Probability of fitting that a job's plans must reach; 0 if only the account must fit.
double fit_confidence(const plan::Job& job);

/// Bytes of the capacity that plans may fill: the share that fits with the requested probability
/// (`share_at`), or all but the reserve that the job states.
double usable_bytes(const plan::Job& job);

/// Load of the busiest expert rank over the mean for which memory is kept free if experts are on
/// several ranks and the job's own load (`plan::busiest_load`) is lower: `kExpertImbalance`, or 1
/// if the job keeps no memory free.
double assumed_expert_load(const plan::Job& job);

struct MemoryReport {
  std::vector<StageMemory> stages;  ///< Memory of each pipeline position.
  double peak_bytes = 0;            ///< Peak bytes of the stage with the largest peak.
  double capacity_bytes = 0;        ///< Bytes of a device that the job may use.
  /// Additional bytes of the largest stage if experts have the load `assumed_expert_load`.
  double uneven_bytes = 0;
  /// Bytes of the capacity kept free: all that plans may not fill, and `uneven_bytes`.
  double reserve_bytes = 0;
  HostBytes host_kinds{};  ///< Host bytes by kind, on the node whose host holds the most.
  /// Sum of `host_kinds`, and the capacity of such a host; the capacity is 0 if the cluster states
  /// none.
  double host_bytes = 0;
  double host_capacity_bytes = 0;
  double p_fits = 1;      ///< Probability that peak and `uneven_bytes` fit in the capacity.
  double confidence = 0;  ///< Probability of fitting that the job asks for (`fit_confidence`).

  [[nodiscard]] double needed_bytes() const { return peak_bytes + uneven_bytes; }
  [[nodiscard]] double usable_bytes() const { return capacity_bytes - reserve_bytes; }
  [[nodiscard]] bool fits_devices() const { return peak_bytes <= usable_bytes(); }
  [[nodiscard]] bool fits_hosts() const {
    return host_capacity_bytes == 0 || host_bytes <= host_capacity_bytes;
  }
  /// True if the plan keeps states or activations in host memory, in addition to what processes
  /// hold there anyway.
  [[nodiscard]] bool leaves_to_hosts() const;
  [[nodiscard]] bool fits() const { return fits_devices() && fits_hosts(); }
  /// Returns whether the job fits. A job for which a host has no room does not fit. If only the
  /// account must fit (`confidence` 0), no job is tight.
  [[nodiscard]] FitVerdict verdict() const;
  /// Bytes over the usable memory of a device or, if devices have room, over that of a node's host;
  /// at most 0 if the job fits.
  [[nodiscard]] double over_by_bytes() const {
    const double over = peak_bytes - usable_bytes();
    return over > 0 || fits() ? over : host_bytes - host_capacity_bytes;
  }
};

/// Bytes kept free for the framework (context, libraries, communicator buffers), and the share
/// added to dynamic allocations for rounding and fragmentation: documented margins, not tensors.
struct DeviceReserve {
  double fixed_bytes = 0;
  double share = 0;
  /// Share of the trained parameters that a rank stores, for flat copies and buckets.
  double parameter_share = 0;
  double optimizer_share = 0;  ///< Share of the optimizer states that a rank stores.

  /// Returns the bytes, rounded up, kept free in addition to `dynamic_bytes` of tensors that are
  /// allocated and freed in a step, stored parameters and optimizer states.
  [[nodiscard]] double bytes(double dynamic_bytes, double parameter_bytes = 0,
                             double optimizer_bytes = 0) const;
};

/// Bytes of context, kernels and workspaces of a process without communicators: the difference
/// between nvidia-smi and the allocator, the same in 71 runs on one H100
/// (data/own_memory_h100.csv).
inline constexpr double kContextBytes = 1.2 * 1024 * 1024 * 1024;
/// Bytes of context, kernels and workspaces of a process with communicators: the constant of a fit
/// to 651 fits / out-of-memory labels of public runs on 80 GB devices. Only its order of magnitude
/// matters: 1 GiB more or less changes a hundredth of the labels, as the program gives the tensors.
inline constexpr double kFrameworkBytes = 2.7 * 1024 * 1024 * 1024;
/// Largest share of a device's memory that the framework's fixed bytes take: on a small device (in
/// a lab or a laptop) there are fewer kernels and channels.
inline constexpr double kFrameworkShareOfDevice = 1.0 / 6;
/// True if the job's framework frees gradients before each step. In a step with one backward, the
/// peak then comes before gradients are allocated.
bool makes_gradients_late(const plan::Job& job);

/// Returns the memory margins of a job with its framework (`MemoryMargins`).
DeviceReserve framework_reserve(const plan::Job& job);

/// Returns the peak of every stage, found by walking its schedule: states, tensors that wait for
/// their backward, and the largest transient, exact for the program's own order of issue
/// (`memory/sequences.h`).
MemoryReport memory_report(const plan::Job& job, const step::StepProgram& program);

/// The memory of a stage during and after one slot of its schedule.
struct MemoryMoment {
  StageMemory during;  ///< Memory at the slot's peak.
  StageMemory after;   ///< Memory after the slot, until the next one begins.
};

/// Returns the memory of every stage slot by slot, in the order of its schedule. The largest
/// `during` of a stage is the peak in `memory_report`, unless the update with all gradients is
/// larger.
std::vector<std::vector<MemoryMoment>> memory_moments(const plan::Job& job,
                                                      const step::StepProgram& program);

/// Returns the kind with the most bytes at the peak of the largest stage.
MemoryKind largest_kind(const MemoryReport& report);

/// Name of the largest part if devices have room but a host has not.
inline constexpr std::string_view kHostMemoryPart = "host_memory";
/// Returns the name of the part that fills most of the memory that is too small: `largest_kind`, or
/// `kHostMemoryPart`.
std::string_view largest_memory_part(const MemoryReport& report);

}  // namespace stepwright::memory
