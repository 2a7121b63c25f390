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

/// How much operators on different streams of one rank slow each other down; factors are at least
/// 1.
struct Contention {
  /// Factor on the time of computation while a message runs inside the node (or, below, on the
  /// network).
  double compute_beside_inside = 1.0;
  double compute_beside_network = 1.0;
};

/// Returns the bytes moved by the kernels that cast the operands of a narrow product.
///
/// - A library casts activations once and writes both layouts: a forward casts its input, a data
///   gradient the gradient that comes in, and a weight gradient finds both.
/// - Dynamic scales of tensors cast each operand for each product, weights too, and read it first
///   for its largest value (torchao torchao/float8/float8_linear.py,
///   matmul_with_hp_or_float8_args).
/// - Dynamic scales of rows need no first read in an operand's own layout. A backward lays out anew
///   all that it multiplies but the gradient of its first product, and a kernel of its own scales
///   each result (torchao/float8/float8_ops.py, addmm_float8_unwrapped and preprocess_addmm).
double cast_bytes(const step::Operator& op, plan::CastScaling casts);

/// Prices operators of one job on its cluster. Immutable, safe to share between threads; pricing
/// allocates nothing. Computations follow the fitted laws of a profile (`ComputeCost`). Messages
/// are the documented default of `docs/models.md`: starts and hops, then bytes over the share of
/// the narrowest link. Times that a profile measured on the cluster itself (`Job::measured`) take
/// precedence over both, without conditions of training.
class CostModel {
 public:
  /// Fails with `kInput` when the job's conditions or its measured profile cannot be read.
  explicit CostModel(const plan::Job& job);
  /// Prices with other conditions of training than the built-in ones.
  CostModel(const plan::Job& job, const TrainingConditions& conditions);

  /// Returns the seconds of a computation: `ComputeCost::seconds` under the training conditions of
  /// its device. `repeats` is ignored.
  [[nodiscard]] double compute_s(const step::Operator& op) const;

  /// Returns `ComputeCost::least_seconds` under the training conditions of the device.
  [[nodiscard]] double least_compute_s(const step::Operator& op) const;

  /// Prices all operators of a template into `times`, then calls `wait_for_host`.
  void price(const step::Template& piece,
             const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
             const plan::Collectives& collectives, std::vector<OperatorTime>& times) const;

  /// If the host needs longer to issue a template's operators than the device to run its compute
  /// stream, lengthens the computations by the time that the device waits.
  void wait_for_host(const step::Template& piece,
                     const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                     std::vector<OperatorTime>& times) const;

  /// Returns the seconds that the host thread needs to issue an operator, including `repeats`; 0: a
  /// CUDA graph replays it.
  [[nodiscard]] double host_s(const step::Operator& op) const;

  /// Returns the time of one message: `CollectiveCost::message` under the conditions of training,
  /// or the time measured on the cluster, plus the host's work for messages of the scheme.
  [[nodiscard]] OperatorTime message(step::OperatorKind kind, double payload_bytes,
                                     const cluster::GroupLayout& layout,
                                     collective::Algorithm algorithm, step::Scheme scheme) const;

  /// Returns the bytes of the full buffer that a communication is priced for: with uneven loads,
  /// those of the busiest rank.
  [[nodiscard]] double payload_bytes(const step::Operator& op,
                                     const cluster::GroupLayout& layout) const;

  /// Returns how a group is placed on the nodes of the job.
  [[nodiscard]] SocketGroup socket_group(const cluster::GroupLayout& layout) const {
    return stepwright::cost::socket_group(layout, node_levels_, devices_per_node_);
  }

  /// Returns the time of any operator, including its `repeats`. `layouts`: the layouts of the
  /// plan's groups (indexed by GroupKind); `collectives`: the algorithms of its schemes. Routed
  /// payloads count the busiest rank.
  [[nodiscard]] OperatorTime price(
      const step::Operator& op, const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
      const plan::Collectives& collectives) const;

  /// Returns the seconds between two steps in which the device is idle, which are part of the price
  /// of an update. 0 where a CUDA graph holds the step, since the host launches it before the last
  /// step has ended.
  [[nodiscard]] double between_steps_s() const {
    return graphs_.step ? 0 : framework_.step_ms * 1e-3;
  }

  [[nodiscard]] const Contention& contention() const { return contention_; }
  [[nodiscard]] const ComputeCost& compute() const { return compute_; }
  /// The provenance of prices in short: which profiles price computations and messages, or
  /// "unfitted".
  [[nodiscard]] const std::string& fit() const { return fit_; }
  /// Returns the provenance of prices in sentences for people, with the stated error.
  [[nodiscard]] std::string provenance() const;
  /// Relative error that the model states for itself; plans that differ by less are tied.
  [[nodiscard]] double stated_error() const { return stated_error_; }
  /// Returns the interval of a step that waits for this share of its time: for messages that
  /// nothing hides, for other stages, or for the host.
  [[nodiscard]] StepInterval step_interval(double waiting_share = 0) const;

 private:
  [[nodiscard]] double rate_of(const step::Operator& op) const;
  [[nodiscard]] OperatorTime transfer(step::OperatorKind kind, double payload_bytes,
                                      const cluster::GroupLayout& layout,
                                      collective::Algorithm algorithm) const;
  [[nodiscard]] double cast_s(const step::Operator& op) const;
  [[nodiscard]] double of_host_s(const step::Operator& op) const;
  /// Returns the seconds of an exchange inside a node by kernels that send a row to each rank once;
  /// nullopt for all other messages.
  [[nodiscard]] std::optional<double> exchange_s(const step::Operator& op,
                                                 const cluster::GroupLayout& layout) const;
  [[nodiscard]] double entering_share(const step::Operator& op,
                                      const cluster::GroupLayout& layout) const;

  DeviceConditions device_;  ///< Training conditions of the device, or else of its generation.
  FrameworkConditions framework_;  ///< Conditions of the job's framework.
  plan::CudaGraphs graphs_;
  plan::CastScaling casts_;
  bool blocking_launches_ = false;
  double attention_rate_ = 1;  ///< Factor on the rate of the fused attention kernel.
  /// Experts of a token, if a row enters each node once; 0: every copy is sent.
  std::int64_t copies_once_ = 0;
  std::int64_t routed_width_ = 0;  ///< Number of elements of a routed row.
  /// Bytes per second of a device's links inside a node, in one direction; 0 where no kernel of
  /// such exchanges was measured on the device's generation.
  double exchange_link_ = 0;
  int node_levels_ = 0;  ///< Number of network levels inside a node.
  ComputeCost compute_;
  CollectiveCost collective_;
  /// The profile measured on the cluster; null: none.
  std::shared_ptr<const MeasuredProfile> measured_;
  std::int64_t devices_per_node_ = 1;
  Contention contention_;
  double memory_s_per_byte_ = 0;
  /// Seconds per byte of copies over the host link; 0: not stated.
  double host_link_s_per_byte_ = 0;
  double host_update_s_ = 0;  ///< Seconds of a rank's host threads to update one parameter.
  /// Seconds per byte of a rank's updates in host memory, while the node's other ranks update, too.
  double host_memory_s_per_byte_ = 0;
  std::string fit_;
  std::string conditions_file_;  ///< Name of the conditions file; empty: the built-in conditions.
  double stated_error_ = 0;
  StepInterval interval_;    ///< The interval of a step that never waits.
  double waits_factor_ = 1;  ///< The factor `StepIntervals::waits` of the conditions.
};

/// Returns the layouts of all kinds of groups of a plan.
std::array<cluster::GroupLayout, plan::kGroupKinds> group_layouts(const cluster::Cluster& cluster,
                                                                  const plan::Grid& grid);

}  // namespace stepwright::cost
