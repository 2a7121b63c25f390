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

/// How operators of different streams of one rank slow each other down: never for nothing.
struct Contention {
  /// Factors on the time of computation while a message is inside the node, or on the network.
  double compute_beside_inside = 1.0;
  double compute_beside_network = 1.0;
};

/// Returns the bytes that kernels move which cast the operands of a narrow product.
///
/// - A library casts activations once and writes both layouts: a forward casts its input, a data
///   gradient the gradient that comes in, and a weight gradient finds both.
/// - Dynamic scales of tensors cast each operand for each product, weights too, and read it first
/// for
///   its largest value (torchao torchao/float8/float8_linear.py, matmul_with_hp_or_float8_args).
/// - Dynamic scales of rows need no first read in an operand's own layout. A backward lays out anew
///   all that it multiplies but the gradient of its first product, and a kernel of its own scales
///   each result (torchao/float8/float8_ops.py, addmm_float8_unwrapped and preprocess_addmm).
double cast_bytes(const step::Operator& op, plan::Casts casts);

/// Prices operators of one job on its cluster. Immutable, safe to share between threads;
/// pricing allocates nothing. Computations follow the fitted laws of a profile (`ComputeCost`).
/// Messages are the documented default of `docs/models.md`: starts and hops, then bytes over the
/// share of the narrowest link. What a profile measured on the cluster itself has (`Job::measured`)
/// comes before both, and needs no conditions of training.
class CostModel {
 public:
  /// Fails with `kInput` when the job's conditions or its measured profile cannot be read.
  explicit CostModel(const plan::Job& job);
  /// Prices with other conditions of training than the built-in ones.
  CostModel(const plan::Job& job, const TrainingConditions& conditions);

  /// A computation: `ComputeCost::seconds` under the conditions of training of its device.
  /// `repeats` does not count.
  [[nodiscard]] double compute_s(const step::Operator& op) const;

  /// `ComputeCost::least_seconds` under the same conditions.
  [[nodiscard]] double least_compute_s(const step::Operator& op) const;

  /// Prices all operators of a template into `times`, and `wait_for_host`.
  void price(const step::Template& piece,
             const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
             const plan::Collectives& collectives, std::vector<OperatorTime>& times) const;

  /// Where the host needs longer to issue the operators of a template than the device to run its
  /// compute stream, the device waits for it: computations take as much longer.
  void wait_for_host(const step::Template& piece,
                     const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                     std::vector<OperatorTime>& times) const;

  /// Seconds of the host thread that issues an operator, `repeats` among them; 0: a graph replays
  /// it.
  [[nodiscard]] double host_s(const step::Operator& op) const;

  /// One message: `CollectiveCost::message` under the conditions of training, or what was measured
  /// on the cluster, and what the host does for messages of the scheme.
  [[nodiscard]] OperatorTime message(step::OperatorKind kind, double payload_bytes,
                                     const cluster::GroupLayout& layout,
                                     collective::Algorithm algorithm, step::Scheme scheme) const;

  /// Bytes of the full buffer that a communication is priced for: the busiest rank's where loads
  /// are uneven.
  [[nodiscard]] double payload_bytes(const step::Operator& op,
                                     const cluster::GroupLayout& layout) const;

  /// How a group lies on the nodes of the job.
  [[nodiscard]] SocketGroup socket_group(const cluster::GroupLayout& layout) const {
    return stepwright::cost::socket_group(layout, node_levels_, devices_per_node_);
  }

  /// Any operator with its `repeats`, given the layouts of the plan's groups (indexed by GroupKind)
  /// and the algorithms of its schemes. Routed payloads count the busiest rank.
  [[nodiscard]] OperatorTime price(
      const step::Operator& op, const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
      const plan::Collectives& collectives) const;

  /// Between two steps, while the device is idle: part of the price of an update. Nothing where a
  /// graph holds the step, which the host launches before the last one has ended.
  [[nodiscard]] double between_steps_s() const {
    return graphs_.step ? 0 : framework_.step_ms * 1e-3;
  }

  [[nodiscard]] const Contention& contention() const { return contention_; }
  [[nodiscard]] const ComputeCost& compute() const { return compute_; }
  /// Provenance in short: which profiles price computations and messages, or "unfitted".
  [[nodiscard]] const std::string& fit() const { return fit_; }
  /// Provenance in sentences for people, with the stated error.
  [[nodiscard]] std::string provenance() const;
  /// The relative error that the model states about itself; plans closer than this are tied.
  [[nodiscard]] double stated_error() const { return stated_error_; }
  /// The interval of a step that waits for this share of its time: for messages that nothing hides,
  /// for other stages, for the host.
  [[nodiscard]] StepInterval step_interval(double waiting_share = 0) const;

 private:
  [[nodiscard]] double rate_of(const step::Operator& op) const;
  [[nodiscard]] OperatorTime transfer(step::OperatorKind kind, double payload_bytes,
                                      const cluster::GroupLayout& layout,
                                      collective::Algorithm algorithm) const;
  [[nodiscard]] double cast_s(const step::Operator& op) const;
  [[nodiscard]] double of_host_s(const step::Operator& op) const;
  /// Seconds of an exchange inside a node by kernels that send a row to each rank once; nullopt
  /// for all others.
  [[nodiscard]] std::optional<double> exchange_s(const step::Operator& op,
                                                 const cluster::GroupLayout& layout) const;
  [[nodiscard]] double entering_share(const step::Operator& op,
                                      const cluster::GroupLayout& layout) const;

  DeviceConditions device_;        ///< Conditions of the device, or of its generation.
  FrameworkConditions framework_;  ///< Conditions of the job's framework.
  plan::CudaGraphs graphs_;
  plan::Casts casts_;
  bool blocking_launches_ = false;
  double attention_rate_ = 1;  ///< Rate of the fused kernel.
  /// Experts of a token, when a row enters each node once; 0: every copy travels.
  std::int64_t copies_once_ = 0;
  std::int64_t routed_width_ = 0;  ///< Elements of a routed row.
  /// Bytes per second of a device's links inside a node, one direction; 0 where no kernel of such
  /// exchanges was measured.
  double exchange_link_ = 0;
  int node_levels_ = 0;  ///< Levels inside a node.
  ComputeCost compute_;
  CollectiveCost collective_;
  std::shared_ptr<const MeasuredProfile> measured_;  ///< Null without a profile.
  std::int64_t devices_per_node_ = 1;
  Contention contention_;
  double memory_s_per_byte_ = 0;
  double host_link_s_per_byte_ = 0;    ///< Copies; 0: not stated.
  double host_update_s_ = 0;           ///< Time of a rank's threads for each parameter.
  double host_memory_s_per_byte_ = 0;  ///< Updates of one rank beside those of its node.
  std::string fit_;
  std::string conditions_file_;  ///< Empty: the built-in ones.
  double stated_error_ = 0;
  StepInterval interval_;    ///< The interval of a step that never waits.
  double waits_factor_ = 1;  ///< `StepIntervals::waits` of the conditions.
};

/// The layouts of all group kinds of a plan.
std::array<cluster::GroupLayout, plan::kGroupKinds> group_layouts(const cluster::Cluster& cluster,
                                                                  const plan::Grid& grid);

}  // namespace stepwright::cost
