#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::cost {

/// The share of its rates that a generation of devices keeps in a training run, where it is hot,
/// shares its power and its memory, over those of one operator alone. 1: all.
struct DeviceConditions {
  std::string device;              ///< A device's name, or a generation for all others of it.
  double product_rate = 1;         ///< Products in 16 bits, those of unfused attention too.
  double narrow_product_rate = 1;  ///< Products in fp8 and narrower.
  double attention_rate = 1;       ///< Kernels of fused attention.
  double flash1_rate = 1;   ///< FlashAttention-1 and its contemporaries, beside attention_rate.
  double memory_rate = 1;   ///< Everything that the memory bounds.
  double inside_rate = 1;   ///< Messages inside a node, where the cluster's own were not measured.
  double network_rate = 1;  ///< Messages between nodes, likewise.
};

/// How a training framework drives the devices.
struct FrameworkConditions {
  std::string framework;     ///< One of `kFrameworkNames`; empty: all others.
  double host_us = 0;        ///< Time of the host thread to issue one kernel.
  double step_ms = 0;        ///< Time between two steps while the device is idle.
  double update_passes = 1;  ///< Time of an update and its norm, over that of moving each operand
                             ///< once.
  double message_us = 0;     ///< Time of the host to issue a layer's message, beside its kernel.
  /// The share of a wait for messages between stages that cross nodes and make hosts wait: host
  /// time of a pass that each rank of a tensor group adds, in shares of its own. 0: the host runs
  /// ahead of its device.
  double stage_wait = 0;
  double beside_inside = 1;  ///< Factor on computation beside a message inside the node.
  double beside_network = 1;
  double tensor_exposed = 1;  ///< Share of an overlapped tensor message that its product waits for.
  double expert_exposed = 1;  ///< Share of an overlapped exchange with experts, likewise.
};

/// A constant of conditions: its key in files, and between which values it lies.
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

/// Shares of a predicted step between which the measured step lies, four times of five.
struct StepInterval {
  double low = 0.85;
  double high = 1.35;
};

/// `interval` with both of its logarithms times `factor`.
StepInterval widened(const StepInterval& interval, double factor);

/// Intervals by the distance of a job from what published runs show. Each factor widens `known` in
/// logarithms (`tools/accuracy/intervals.py` calibrates all of them).
struct StepIntervals {
  StepInterval known;  ///< Framework, generation and precision are shown; the step never waits.
  double unknown = 1;  ///< For each of the three that no run shows.
  double experts = 1;  ///< For mixtures of experts.
  /// For a step that does nothing but wait. A step that waits for a share s of its time has this
  /// factor to the power of s.
  double waits = 1;
};

/// Constants that no measurement of a single operator shows: fitted to whole training runs
/// (docs/accuracy.md), on a part of the published rows. Few, and the same for every model.
struct TrainingConditions {
  std::string source;
  std::vector<DeviceConditions> devices;
  std::vector<FrameworkConditions> frameworks;
  StepIntervals intervals;
};

/// The conditions compiled in (`cost/training/conditions.yaml`).
const TrainingConditions& built_in_conditions();

/// Reads a file of the same form. Fails with `kInput`, naming file, field and value.
TrainingConditions load_conditions(const std::filesystem::path& path);
TrainingConditions read_conditions(const Document& document);

/// The text of such a file, with what differs from an entry that says nothing.
std::string conditions_yaml(const TrainingConditions& all);

/// The conditions of the job's file, or else the built-in ones. Fails as `load_conditions` does.
TrainingConditions conditions_of(const plan::Job& job);

/// The conditions of a device, or else of its generation; rates of 1 when there are none.
DeviceConditions conditions_of(const TrainingConditions& all, std::string_view device,
                               std::string_view generation);

/// How many of a job's framework, generation of devices and precision no fitted run shows: 0 to 3.
/// A device that is a variant of its generation (`cluster::Device::variant`) counts as not shown.
int unknown_parts(const TrainingConditions& all, const plan::Job& job);

/// The interval of a job's step that never waits.
StepInterval interval_of(const TrainingConditions& all, const plan::Job& job);

/// The conditions of a framework: its own, or else those without a name.
FrameworkConditions conditions_of(const TrainingConditions& all, const plan::Framework& framework);

}  // namespace stepwright::cost
