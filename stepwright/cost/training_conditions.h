#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::cost {

/// The shares of its single-operator rates that a device keeps in a training run, where it is hot
/// and shares its power and memory. 1: all of the rate.
struct DeviceConditions {
  std::string device;  ///< A device's name, or a generation, for all its devices without an entry.
  /// Share of their rate that matrix products in 16 bits keep, including those of unfused
  /// attention.
  double product_rate = 1;
  /// Share of their rate that matrix products in fp8 and narrower keep.
  double narrow_product_rate = 1;
  double attention_rate = 1;  ///< Share of their rate that fused attention kernels keep.
  /// Share of their rate that FlashAttention-1 and its contemporaries keep, in addition to
  /// `attention_rate`.
  double flash1_rate = 1;
  double memory_rate = 1;  ///< Share of their rate that kernels limited by memory bandwidth keep.
  /// Share of their rate that messages inside a node keep, if they were not measured on the
  /// cluster.
  double inside_rate = 1;
  /// Share of their rate that messages between nodes keep, if they were not measured on the
  /// cluster.
  double network_rate = 1;
};

/// Constants of how a training framework drives the devices.
struct FrameworkConditions {
  std::string framework;  ///< One of `kFrameworkNames`; empty: all frameworks without an entry.
  double host_us = 0;     ///< Microseconds of the host thread to issue one kernel.
  double step_ms = 0;     ///< Milliseconds between two steps in which the device is idle.
  /// Time of an optimizer update and its norm, over the time of moving each operand once.
  double update_passes = 1;
  /// Microseconds of the host to issue a layer's message, in addition to its kernel.
  double message_us = 0;
  /// Host time of a pass, as a share of itself, that each rank of a tensor group adds where
  /// messages between stages cross nodes and make hosts wait. 0: the host runs ahead of its device.
  double stage_wait = 0;
  /// Factor on the time of computation beside a message inside the node.
  double beside_inside = 1;
  double beside_network = 1;
  double tensor_exposed = 1;  ///< Share of an overlapped tensor message that its product waits for.
  /// Share of an overlapped exchange with experts that computation waits for.
  double expert_exposed = 1;
};

/// A constant of conditions: its key in files, and its least and greatest value.
template <class Conditions>
struct ConditionField {
  std::string_view key;
  double Conditions::* value;
  double low;
  double high;
};

inline constexpr ConditionField<DeviceConditions> kDeviceFields[] = {
    {"product_rate", &DeviceConditions::product_rate, 0.1, 2},
    {"narrow_product_rate", &DeviceConditions::narrow_product_rate, 0.1, 2},
    {"attention_rate", &DeviceConditions::attention_rate, 0.1, 3},
    {"flash1_rate", &DeviceConditions::flash1_rate, 0.1, 3},
    {"memory_rate", &DeviceConditions::memory_rate, 0.1, 3},
    {"inside_rate", &DeviceConditions::inside_rate, 0.1, 3},
    {"network_rate", &DeviceConditions::network_rate, 0.1, 3}};

inline constexpr ConditionField<FrameworkConditions> kFrameworkFields[] = {
    {"host_us", &FrameworkConditions::host_us, 0, 1e4},
    {"step_ms", &FrameworkConditions::step_ms, 0, 1e5},
    {"update_passes", &FrameworkConditions::update_passes, 0.1, 100},
    {"message_us", &FrameworkConditions::message_us, 0, 1e6},
    {"stage_wait", &FrameworkConditions::stage_wait, 0, 100},
    {"beside_inside", &FrameworkConditions::beside_inside, 1, 100},
    {"beside_network", &FrameworkConditions::beside_network, 1, 100},
    {"tensor_exposed", &FrameworkConditions::tensor_exposed, 0, 1},
    {"expert_exposed", &FrameworkConditions::expert_exposed, 0, 1}};

/// Shares of a predicted step time between which the measured time lies in four of five runs.
struct StepInterval {
  double low = 0.85;
  double high = 1.35;
};

/// Returns `interval` with the logarithms of both ends times `factor`.
StepInterval widened_interval(const StepInterval& interval, double factor);

/// Intervals by how far a job is from the published runs. Each factor widens `known` in logarithms
/// (`tools/accuracy/intervals.py` calibrates all of them).
struct StepIntervals {
  /// Interval if published runs show the framework, the generation and the precision, and the step
  /// never waits.
  StepInterval known;
  double unknown = 1;  ///< Factor for each of these three that no run shows.
  double experts = 1;  ///< Widening factor for jobs with mixtures of experts.
  /// Factor for a step that only waits. A step that waits for a share s of its time gets this
  /// factor to the power of s.
  double waits = 1;
};

/// Constants that no measurement of a single operator shows. They are fitted to whole training runs
/// (docs/accuracy.md), on a part of the published rows; they are few, and equal for every model.
struct TrainingConditions {
  std::string source;
  std::vector<DeviceConditions> devices;
  std::vector<FrameworkConditions> frameworks;
  StepIntervals intervals;
};

/// Returns the conditions that are compiled in (`cost/training/conditions.yaml`).
const TrainingConditions& built_in_conditions();

/// Reads a file of conditions. Fails with `kInput`, naming file, field and value.
TrainingConditions load_conditions(const std::filesystem::path& path);
TrainingConditions read_conditions(const Document& document);

/// Returns the text of a conditions file; values at their defaults are left out.
std::string conditions_yaml(const TrainingConditions& all);

/// Returns the conditions of the job's file, or else the built-in ones. Fails as `load_conditions`
/// does.
TrainingConditions conditions_of(const plan::Job& job);

/// Returns the conditions of a device, or else of its generation; rates of 1 when there are none.
DeviceConditions conditions_of(const TrainingConditions& all, std::string_view device,
                               std::string_view generation);

/// Returns how many (0 to 3) of a job's framework, device generation and precision occur in no
/// fitted run. A device that is a variant of its generation (`cluster::Device::variant`) counts as
/// not shown.
int unfitted_parts_count(const TrainingConditions& all, const plan::Job& job);

/// Returns the interval of a step of the job that never waits.
StepInterval step_interval_of_job(const TrainingConditions& all, const plan::Job& job);

/// Returns the conditions of a framework: its own entry, or else the entry without a name.
FrameworkConditions conditions_of(const TrainingConditions& all, const plan::Framework& framework);

}  // namespace stepwright::cost
