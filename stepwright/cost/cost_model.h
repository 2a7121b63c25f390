#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/cluster/layout.h"
#include "stepwright/cost/collective_cost.h"
#include "stepwright/cost/compute_cost.h"
#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::cost {

/// How much computation slows down while a message runs on another stream of the same GPU. Factors
/// on its time, at least 1.
struct OverlapSlowdownFactors {
  /// Factor, at least 1, on the time of computation while a message runs inside the node.
  double compute_beside_inside = 1.0;
  /// Factor, at least 1, on the time of computation while a message runs on the network.
  double compute_beside_network = 1.0;
};

/// Returns the bytes moved by the kernels that cast the operands of a matrix product to fp8 or a
/// narrower type.
///
/// - kLibrary: activations are cast once, into both layouts. A forward casts its input, a data
///   gradient the incoming gradient, and a weight gradient nothing.
/// - kTensorwise: a forward casts input and weight, a data gradient the incoming gradient (into
///   both layouts) and the weight, a weight gradient the input. Each operand is first read for its
///   largest value (torchao torchao/float8/float8_linear.py, matmul_with_hp_or_float8_args).
/// - kRowwise: a forward casts input and weight without that first read. A backward casts operands
///   along their other dimension, which needs it (except the incoming gradient of a data gradient),
///   and a separate kernel scales each result (torchao/float8/float8_ops.py, addmm_float8_unwrapped
///   and preprocess_addmm).
double low_precision_cast_bytes(const step::Operator& op, plan::LowPrecisionCastScaling casts);

/// Prices all operators of a step, computations and messages, of one job on its cluster.
/// Computations follow `ComputationCostModel` and messages `MessageCostModel`, both slowed by
/// training conditions fitted to whole runs. Times that the user measured on this cluster
/// (`Job::measured`) take precedence, without training conditions. Immutable and safe to share
/// between threads; pricing allocates no memory.
class CostModel {
 public:
  /// Loads the job's training conditions (fitted constants of training runs) and its measured
  /// profile, if it names them; fails with `kInput` if a file cannot be read.
  explicit CostModel(const plan::Job& job);
  /// Uses these training conditions (constants fitted to whole runs) instead of the built-in ones.
  CostModel(const plan::Job& job, const TrainingConditions& conditions);

  /// Returns the seconds of one run of a computation in a training step: its time alone
  /// (`ComputationCostModel::operator_run_seconds`), slowed by the device's training conditions.
  /// `Operator::repeats` is ignored.
  [[nodiscard]] double compute_s(const step::Operator& op) const;

  /// Returns a lower bound on the seconds of a fused attention or a grouped matrix product in a
  /// training step, however its work is divided into shapes.
  [[nodiscard]] double min_fused_compute_seconds(const step::Operator& op) const;

  /// Prices all operators of a template (one layer's forward or backward) in order, writes their
  /// seconds to `times`, and adds the time that the device waits for the host to launch kernels.
  void price_template_operators(const step::OperatorTemplate& piece,
                                const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                                const plan::CollectiveAlgorithmChoices& collectives,
                                std::vector<OperatorTime>& times) const;

  /// Lengthens the computations in `times` by the time that the device waits for the host, if the
  /// host needs longer to launch the operators of a template (one layer's forward or backward) than
  /// the compute stream needs to run them.
  void add_host_launch_waits(const step::OperatorTemplate& piece,
                             const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                             std::vector<OperatorTime>& times) const;

  /// Returns the seconds of the host thread to launch an operator's kernels, all repeats included;
  /// 0 if a CUDA graph replays the operator.
  [[nodiscard]] double host_kernel_launch_seconds(const step::Operator& op) const;

  /// Returns the time of one message: measured on the cluster if the job has a measured profile,
  /// else modelled (`MessageCostModel::priced_message_time`) and slowed by the training conditions.
  /// Host work per message, if measured for its scheme (tensor, data, ...), is added.
  [[nodiscard]] OperatorTime message_time(step::OperatorKind kind, double payload_bytes,
                                          const cluster::GroupLayout& layout,
                                          collective::CollectiveAlgorithm algorithm,
                                          step::ParallelismScheme scheme) const;

  /// Returns the bytes of a communication operator's whole buffer, as it is priced: with uneven
  /// expert loads, those of the busiest rank.
  [[nodiscard]] double payload_bytes(const step::Operator& op,
                                     const cluster::GroupLayout& layout) const;

  /// Returns how a group of ranks lies on the job's nodes: nodes, ranks per node, and groups per
  /// node.
  [[nodiscard]] GroupNodePlacement group_node_placement(const cluster::GroupLayout& layout) const {
    return stepwright::cost::group_node_placement(layout, node_levels_, devices_per_node_);
  }

  /// Returns the time of any operator, computation or message, all its repeats included. `layouts`:
  /// placement of each kind of group, indexed by `CommunicatorKind`; `collectives`: algorithm of
  /// each parallelism scheme. Messages with routed tokens count the busiest rank.
  [[nodiscard]] OperatorTime price_template_operators(
      const step::Operator& op, const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
      const plan::CollectiveAlgorithmChoices& collectives) const;

  /// Returns the seconds in which the device is idle between two steps, which the price of the
  /// optimizer update includes. 0 if a CUDA graph holds the whole step: the host launches it before
  /// the previous step has ended.
  [[nodiscard]] double device_idle_seconds_between_steps() const {
    return graphs_.step ? 0 : framework_.step_ms * 1e-3;
  }

  [[nodiscard]] const OverlapSlowdownFactors& contention() const { return contention_; }
  [[nodiscard]] const ComputationCostModel& compute() const { return compute_; }
  /// Short text that says which profiles price computations and messages; "unfitted" for those that
  /// documented defaults price.
  [[nodiscard]] const std::string& profiles_in_use_text() const { return fit_; }
  /// Returns sentences for users that say on which measurements the predicted times rest, and the
  /// stated relative error of a step.
  [[nodiscard]] std::string measurements_behind_prediction_text() const;
  /// Relative error of a predicted step time, as the model itself states it (0.1: 10 %); plans
  /// whose times differ by less count as equally fast.
  [[nodiscard]] double step_time_relative_error() const { return stated_error_; }
  /// Returns the interval, as shares of the predicted step time, in which four of five measured
  /// times lie. `waiting_share`: share of the step in which devices wait for exposed messages,
  /// other stages or the host.
  [[nodiscard]] StepTimeRatioInterval step_time_ratio_interval(double waiting_share = 0) const;

 private:
  [[nodiscard]] double rate_of(const step::Operator& op) const;
  [[nodiscard]] OperatorTime transfer(step::OperatorKind kind, double payload_bytes,
                                      const cluster::GroupLayout& layout,
                                      collective::CollectiveAlgorithm algorithm) const;
  [[nodiscard]] double cast_s(const step::Operator& op) const;
  [[nodiscard]] double of_host_s(const step::Operator& op) const;
  /// Returns the seconds of an expert all-to-all inside one node by DeepEP-like kernels, which send
  /// a row to each rank once; nullopt if the operator is another message, or such kernels were not
  /// measured on the device.
  [[nodiscard]] std::optional<double> deepep_all_to_all_s(const step::Operator& op,
                                                          const cluster::GroupLayout& layout) const;
  [[nodiscard]] double entering_share(const step::Operator& op,
                                      const cluster::GroupLayout& layout) const;

  /// Factors on kernel rates in a training run, for the job's device or else its generation.
  DeviceTrainingFactors device_;
  FrameworkTrainingConstants
      framework_;  ///< Fitted host and overlap constants of the job's framework.
  plan::CudaGraphScope graphs_;
  plan::LowPrecisionCastScaling casts_;
  bool blocking_launches_ = false;
  /// Share of its measured rate that the job's fused attention kernel keeps in training.
  double attention_rate_ = 1;
  /// Experts per token (top_k), if the dispatcher sends a token's row to each node once; 0: it
  /// sends one copy for every expert.
  std::int64_t copies_once_ = 0;
  std::int64_t routed_width_ = 0;  ///< Elements of a row that is sent to experts.
  /// Bytes per second and direction of a device's links inside the node, used to price DeepEP-like
  /// exchanges; 0: no such kernel was measured on the device's generation.
  double exchange_link_ = 0;
  int node_levels_ = 0;  ///< Number of network levels (NVLink, PCIe, ...) inside a node.
  ComputationCostModel compute_;
  MessageCostModel collective_;
  /// Profile that the user measured on this cluster; null: none.
  std::shared_ptr<const MeasuredProfile> measured_;
  std::int64_t devices_per_node_ = 1;
  OverlapSlowdownFactors contention_;
  double memory_s_per_byte_ = 0;
  /// Seconds per byte of copies between device and host; 0: the cluster states no host link.
  double host_link_s_per_byte_ = 0;
  /// Seconds in which the host threads of one rank update one parameter; 0: host memory limits.
  double host_update_s_ = 0;
  /// Seconds per byte of a rank's optimizer update in host memory while the node's other ranks
  /// update too.
  double host_memory_s_per_byte_ = 0;
  std::string fit_;
  /// Path of the user's file of training conditions (fitted constants of training runs); empty: the
  /// built-in ones.
  std::string conditions_file_;
  double stated_error_ = 0;
  /// Interval that holds 80 % of measured step times, in units of the predicted step time, if no
  /// device waits for messages or other stages.
  StepTimeRatioInterval interval_;
  /// Factor that widens the interval of the predicted time for a step in which devices only wait.
  double waits_factor_ = 1;
};

/// Returns how the groups of each kind (tensor, data, pipeline, ...) of a rank grid lie on the
/// cluster's network levels, indexed by `CommunicatorKind`.
std::array<cluster::GroupLayout, plan::kGroupKinds> rank_group_network_layouts(
    const cluster::Cluster& cluster, const plan::RankGrid& grid);

}  // namespace stepwright::cost
