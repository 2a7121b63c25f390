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

/// Kinds of device memory; the peak of a pipeline stage is their sum.
enum class MemoryKind : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizer,
  kActivations,
  kLogits,
  kGathered,
  kCommunication,
  /// Memory kept free for the framework, libraries and allocator rounding: a documented margin, not
  /// tensors.
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

/// For each `step::TensorPurpose`, the kind of device memory as which its tensors count.
inline constexpr MemoryKind kMemoryKindsByTensorKind[] = {
    MemoryKind::kActivations, MemoryKind::kLogits, MemoryKind::kGathered,
    MemoryKind::kCommunication};
static_assert(std::size(kMemoryKindsByTensorKind) == step::kTensorKinds);

struct StageMemory {
  double peak_bytes = 0;  ///< Peak bytes of a device of this pipeline stage, a whole number.
  /// Bytes by kind of memory at the peak; their sum is `peak_bytes`.
  std::array<double, kMemoryKinds> kinds{};
};

/// Probability of fitting in memory that plans must reach if a job states none. (If a job states a
/// memory limit instead, the predicted peak itself must stay below it.)
inline constexpr double kDefaultMemoryFitConfidence = 0.9;

/// Assumed load of the busiest expert rank divided by the mean, for which memory is kept free if
/// the job states a lower `imbalance`: balanced routers stay below it after their first steps.
inline constexpr double kAssumedExpertImbalance = 1.2;

/// Returns the bytes of device memory that a job may use: the device's memory, or the job's limit.
double device_memory_capacity_bytes(const plan::Job& job);

/// Returns the probability of fitting in memory that a job's plans must reach; 0 if only the
/// predicted peak must fit.
double memory_fit_confidence(const plan::Job& job);

/// Returns the bytes that a plan's predicted peak may reach: the share of the device's memory at
/// which the plan fits with the requested probability, or all but the reserve that the job states.
double usable_memory_bytes(const plan::Job& job);

/// Returns the load of the busiest expert rank, divided by the mean load, for which a job keeps
/// memory free even if its own load is lower; 1 if the job keeps no memory free. Call it only if
/// experts are on several ranks.
double assumed_expert_load(const plan::Job& job);

struct MemoryReport {
  std::vector<StageMemory> stages;  ///< Memory of each pipeline stage.
  double peak_bytes = 0;            ///< Peak bytes of a device, on the stage with the largest peak.
  double capacity_bytes = 0;        ///< Bytes of device memory that the job may use.
  /// Additional bytes that the fullest stage needs if experts are loaded less evenly than the job
  /// states (load `assumed_expert_load`).
  double uneven_bytes = 0;
  /// Bytes of device memory that are kept free and that plans may not fill, including
  /// `uneven_bytes`.
  double reserve_bytes = 0;
  HostBytes host_kinds{};  ///< Host memory in bytes by kind, on the node whose host holds the most.
  /// Bytes that the fullest host holds; `host_capacity_bytes`: bytes of memory that a host has (0:
  /// the cluster does not state it).
  double host_bytes = 0;
  double host_capacity_bytes = 0;
  double p_fits = 1;  ///< Probability that the peak and `uneven_bytes` fit in device memory.
  /// Probability of fitting in memory that the job asks for; 0: only the predicted peak must fit.
  double confidence = 0;

  [[nodiscard]] double device_bytes_needed_by_plan() const { return peak_bytes + uneven_bytes; }
  [[nodiscard]] double usable_memory_bytes() const { return capacity_bytes - reserve_bytes; }
  [[nodiscard]] bool fits_devices() const { return peak_bytes <= usable_memory_bytes(); }
  [[nodiscard]] bool fits_hosts() const {
    return host_capacity_bytes == 0 || host_bytes <= host_capacity_bytes;
  }
  /// True if the plan offloads states or activations to host memory.
  [[nodiscard]] bool offloads_to_host_memory() const;
  [[nodiscard]] bool fits() const { return fits_devices() && fits_hosts(); }
  /// Returns whether the job fits in the memory of devices and hosts, with the requested
  /// probability. If only the predicted peak must fit (`confidence` 0), no job is "tight".
  [[nodiscard]] MemoryFitVerdict memory_fit_verdict_of_job() const;
  /// Bytes by which the job exceeds the memory of a device or, if it fits there, of a host; 0 or
  /// negative if the job fits.
  [[nodiscard]] double memory_shortage_bytes() const {
    const double over = peak_bytes - usable_memory_bytes();
    return over > 0 || fits() ? over : host_bytes - host_capacity_bytes;
  }
};

/// Device memory kept free as a safety margin: fixed bytes for the framework (context, libraries,
/// communicator buffers), and shares of allocated bytes for rounding and fragmentation. Documented
/// margins, not tensors.
struct DeviceMemoryReserve {
  double fixed_bytes = 0;
  double share = 0;
  /// Margin as a share of the trained parameters that a rank stores, for flat copies and buckets.
  double parameter_share = 0;
  double optimizer_share = 0;  ///< Margin as a share of the optimizer states that a rank stores.
  /// Largest margin for gradients that the optimizer's update holds in addition to the model
  /// states, if parameters are sharded; 0: no such margin.
  double sub_group_bytes = 0;

  /// Returns the bytes to keep free, rounded up. `dynamic_bytes`: tensors that are allocated and
  /// freed in a step; `parameter_bytes` and `optimizer_bytes`: parameters and optimizer states that
  /// the rank stores.
  [[nodiscard]] double bytes(double dynamic_bytes, double parameter_bytes = 0,
                             double optimizer_bytes = 0) const;
};

/// Bytes of CUDA context, kernels and workspaces of a process without communicators: nvidia-smi
/// minus PyTorch's allocator, equal in 71 runs on one H100 (data/own_memory_h100.csv).
inline constexpr double kCudaContextBytes = 1.2 * 1024 * 1024 * 1024;
/// Bytes of CUDA context, kernels and workspaces of a process that has communicators: the constant
/// of a fit to 651 fits / out-of-memory labels of public runs on 80 GB devices. Only its order of
/// magnitude matters: 1 GiB more or less changes a hundredth of the labels.
inline constexpr double kFrameworkReservedMemoryBytes = 2.7 * 1024 * 1024 * 1024;
/// Upper limit for the framework's fixed bytes, as a share of device memory: on small devices
/// (laptops, emulated clusters) fewer kernels and channels are loaded.
inline constexpr double kMaxFrameworkReservedMemoryShare = 1.0 / 6;
/// True if the job's framework allocates gradients in the first backward of each step and frees
/// them before the next. In a step with one backward, the peak is then before gradients exist.
bool allocates_gradients_late(const plan::Job& job);

/// Returns the safety margins of device memory for the job's framework. `shards_parameters`: true
/// for plans that shard parameters over data-parallel ranks.
DeviceMemoryReserve framework_memory_reserve(const plan::Job& job, bool shards_parameters = false);

/// Returns the peak memory of every pipeline stage, found by walking through its schedule: model
/// states, tensors kept for their backward, and the largest transient. Exact for the program's own
/// order of operators.
MemoryReport memory_report(const plan::Job& job, const step::StepProgram& program);

/// Device memory of a stage during and after one slot of its schedule (the forward or backward of
/// one micro-batch).
struct ScheduleSlotMemory {
  /// Memory at the peak of the slot (a forward or backward of one micro-batch).
  StageMemory during;
  /// Memory from the end of the slot (a forward or backward of one micro-batch) to the next one.
  StageMemory after;
};

/// Returns the memory of every stage for each slot of its schedule (forward or backward of one
/// micro-batch). The largest `during` of a stage is its peak, unless the optimizer's update needs
/// more.
std::vector<std::vector<ScheduleSlotMemory>> slot_memory_by_stage(const plan::Job& job,
                                                                  const step::StepProgram& program);

/// Returns the kind of memory (parameters, activations, ...) with the most bytes at the peak of the
/// fullest stage.
MemoryKind largest_memory_kind(const MemoryReport& report);

/// Name reported as the largest part of memory if devices have room but a host has not.
inline constexpr std::string_view kHostMemoryPartName = "host_memory";
/// Returns the name of the largest part of the memory that is too small: a kind of device memory,
/// or `kHostMemoryPartName`.
std::string_view largest_part_of_scarce_memory(const MemoryReport& report);

}  // namespace stepwright::memory
