#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::cost {

/// How much of its single-kernel speed a device keeps in a training run, where it is hot and shares
/// power and memory. Each field is a factor on a rate; 1: no loss.
struct DeviceTrainingFactors {
  /// Name of the device to which the factors apply, or of a generation (for its devices without an
  /// entry of their own).
  std::string device;
  /// Factor on the rate of 16-bit matrix products in a training run, those of unfused attention
  /// included.
  double product_rate = 1;
  /// Factor on the rate of matrix products in fp8 and narrower types in a training run.
  double narrow_product_rate = 1;
  double attention_rate = 1;  ///< Factor on the rate of fused attention kernels in a training run.
  /// Factor on the rate of FlashAttention-1 and attention kernels of its time in a training run, in
  /// addition to `attention_rate`.
  double flash1_rate = 1;
  /// Factor on the rate of kernels limited by memory bandwidth in a training run.
  double memory_rate = 1;
  /// Factor on the rate of messages inside a node in a training run, unless they were measured on
  /// the cluster.
  double inside_rate = 1;
  /// Factor on the rate of messages between nodes in a training run, unless they were measured on
  /// the cluster.
  double network_rate = 1;
};

/// Fitted constants of a training framework: host time per kernel and step, and how well its
/// messages overlap.
struct FrameworkTrainingConstants {
  /// Name of the framework to which the constants apply; empty: every framework without an entry.
  std::string framework;
  double host_us = 0;  ///< Microseconds in which the host thread launches one kernel.
  double step_ms = 0;  ///< Milliseconds in which the device is idle between two steps.
  /// Memory traffic of an optimizer update and its gradient norm, relative to moving each operand
  /// once.
  double update_passes = 1;
  /// Additional microseconds of the host to launch a communication operator.
  double message_us = 0;
  /// Factor on the host time when pipeline messages cross nodes: 1 + stage_wait x tensor-parallel
  /// ranks, since hosts then wait for each other. 0: the host runs ahead of its device.
  double stage_wait = 0;
  /// Factor, at least 1, on the time of computation while a message runs inside the node.
  double beside_inside = 1;
  /// Factor, at least 1, on the time of computation while a message runs on the network.
  double beside_network = 1;
  /// Share of an overlapped tensor-parallel message that stays exposed (its product waits).
  double tensor_exposed = 1;
  /// Share of an overlapped expert all-to-all that stays exposed (computation waits for it).
  double expert_exposed = 1;
};

/// A field of a file of training conditions (fitted constants of training runs): its key, the
/// member that holds its value, and the allowed range.
template <class TrainingConstants>
struct ConditionField {
  std::string_view key;
  double TrainingConstants::* value;
  double low;
  double high;
};

inline constexpr ConditionField<DeviceTrainingFactors> kDeviceFields[] = {
    {"product_rate", &DeviceTrainingFactors::product_rate, 0.1, 2},
    {"narrow_product_rate", &DeviceTrainingFactors::narrow_product_rate, 0.1, 2},
    {"attention_rate", &DeviceTrainingFactors::attention_rate, 0.1, 3},
    {"flash1_rate", &DeviceTrainingFactors::flash1_rate, 0.1, 3},
    {"memory_rate", &DeviceTrainingFactors::memory_rate, 0.1, 3},
    {"inside_rate", &DeviceTrainingFactors::inside_rate, 0.1, 3},
    {"network_rate", &DeviceTrainingFactors::network_rate, 0.1, 3}};

inline constexpr ConditionField<FrameworkTrainingConstants> kFrameworkFields[] = {
    {"host_us", &FrameworkTrainingConstants::host_us, 0, 1e4},
    {"step_ms", &FrameworkTrainingConstants::step_ms, 0, 1e5},
    {"update_passes", &FrameworkTrainingConstants::update_passes, 0.1, 100},
    {"message_us", &FrameworkTrainingConstants::message_us, 0, 1e6},
    {"stage_wait", &FrameworkTrainingConstants::stage_wait, 0, 100},
    {"beside_inside", &FrameworkTrainingConstants::beside_inside, 1, 100},
    {"beside_network", &FrameworkTrainingConstants::beside_network, 1, 100},
    {"tensor_exposed", &FrameworkTrainingConstants::tensor_exposed, 0, 1},
    {"expert_exposed", &FrameworkTrainingConstants::expert_exposed, 0, 1}};

/// Interval of measured step time / predicted step time that covers four of five runs.
struct StepTimeRatioInterval {
  double low = 0.85;
  double high = 1.35;
};

/// Returns an interval of measured / predicted step time with both ends raised to the power
/// `factor`: wider for factors above 1.
StepTimeRatioInterval widened_ratio_interval(const StepTimeRatioInterval& interval, double factor);

/// Uncertainty of predicted step times: an interval for well-known jobs and factors that widen it
/// for others (on a logarithmic scale; calibrated by `tools/accuracy/intervals.py`).
struct StepTimeRatioUncertainty {
  /// Interval of measured / predicted step time for a step without waiting whose framework, device
  /// generation and precision all occur in published runs.
  StepTimeRatioInterval known;
  /// Factor that widens the interval of a predicted step time, for each of framework, device
  /// generation and precision that no published run has.
  double unknown = 1;
  /// Factor that widens the interval of a predicted step time for jobs with mixtures of experts.
  double experts = 1;
  /// Factor that widens the interval of a predicted step time for a step that only waits for
  /// messages, stages or the host; a step that waits for a share s of its time gets waits^s.
  double waits = 1;
};

/// Constants that single-operator measurements cannot show, fitted to whole training runs on a part
/// of the published rows (docs/accuracy.md). They are few, and equal for every model.
struct TrainingConditions {
  std::string source;
  std::vector<DeviceTrainingFactors> devices;
  std::vector<FrameworkTrainingConstants> frameworks;
  StepTimeRatioUncertainty intervals;
};

/// Returns the training conditions (fitted constants of training runs) that are compiled into the
/// program (`cost/training/conditions.yaml`).
const TrainingConditions& built_in_training_conditions();

/// Reads a file of training conditions (fitted constants of training runs). Fails with `kInput`,
/// naming file, field and value.
TrainingConditions load_training_conditions(const std::filesystem::path& path);
TrainingConditions read_conditions(const YamlJsonDocument& document);

/// Returns the YAML text of a file of training conditions (fitted constants of training runs),
/// without values that are at their defaults.
std::string training_conditions_yaml(const TrainingConditions& all);

/// Returns the training conditions (fitted constants of training runs) that apply to a job: those
/// of the file that it names, else the built-in ones. Fails with `kInput` if the file is invalid.
TrainingConditions applicable_training_conditions(const plan::Job& job);

/// Returns the rate factors of a device in training: its own entry, else that of its generation;
/// without either, all factors are 1.
DeviceTrainingFactors applicable_training_conditions(const TrainingConditions& all,
                                                     std::string_view device,
                                                     std::string_view generation);

/// Returns how many (0 to 3) of a job's framework, device generation and precision occur in no
/// fitted run. A device that is a variant of its generation (`cluster::DeviceModel::variant`)
/// counts as occurring in none.
int count_job_traits_without_fitted_run(const TrainingConditions& all, const plan::Job& job);

/// Returns the interval of measured / predicted step time for a job's step in which no device
/// waits: the known interval, widened for unknown framework, device or precision and for experts.
StepTimeRatioInterval job_step_time_ratio_interval(const TrainingConditions& all,
                                                   const plan::Job& job);

/// Returns the fitted constants of a framework: its own entry, else the entry for all other
/// frameworks.
FrameworkTrainingConstants applicable_training_conditions(const TrainingConditions& all,
                                                          const plan::TrainingFramework& framework);

}  // namespace stepwright::cost
