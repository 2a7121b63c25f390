#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/cluster/layout.h"
#include "stepwright/collective/wire.h"
#include "stepwright/cost/compute_cost.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright {

struct DeviceDefaults;

/// The links that a message keeps busy; messages of one class on one rank share it.
enum class LinkClass : std::uint8_t { kNone, kInside, kNetwork };
inline constexpr int kLinkClasses = 3;

/// Seconds of one operator when nothing else runs beside it.
struct OperatorTime {
  double seconds = 0;
  LinkClass link = LinkClass::kNone;  ///< Its bottleneck; kNone for computation.
};

/// How operators of different streams of one rank slow each other down: never for nothing.
struct Contention {
  /// Factors on the time of computation while a message is inside the node, or on the network.
  double compute_beside_inside = 1.0;
  double compute_beside_network = 1.0;
};

/// Prices operators of one job on its cluster. Immutable, safe to share between threads;
/// pricing allocates nothing. Computations follow the fitted laws of a profile (`ComputeCost`).
/// Messages are the documented default of `docs/models.md`: starts and hops, then bytes over the
/// share of the narrowest link.
class CostModel {
 public:
  explicit CostModel(const Job& job);
  /// With other conditions of training than the built-in ones.
  CostModel(const Job& job, const TrainingConditions& conditions);

  /// A computation: `ComputeCost::seconds` under the conditions of training of its device.
  /// `repeats` does not count.
  [[nodiscard]] double compute_s(const Operator& op) const;

  /// Prices all operators of a template into `times`, and `wait_for_host`.
  void price(const Template& piece, const std::array<GroupLayout, kGroupKinds>& layouts,
             Algorithm data_algorithm, std::vector<OperatorTime>& times) const;

  /// Where the host needs longer to issue the operators of a template than the device to run its
  /// compute stream, the device waits for it: computations take as much longer.
  void wait_for_host(const Template& piece, std::vector<OperatorTime>& times) const;

  /// One message of a full buffer of `payload_bytes`; kSend, kReceive and kShift: the transfer
  /// between the two neighbours that are farthest apart. A group of one takes no time. Grows with
  /// the payload. `algorithm` counts for all-reduce, all-gather and reduce-scatter.
  [[nodiscard]] OperatorTime message(OperatorKind kind, double payload_bytes,
                                     const GroupLayout& layout, Algorithm algorithm) const;

  /// Any operator with its `repeats`, given the layouts of the plan's groups (indexed by GroupKind)
  /// and the algorithm of data-parallel collectives; all others are rings or direct. Routed
  /// payloads count the busiest rank.
  [[nodiscard]] OperatorTime price(const Operator& op,
                                   const std::array<GroupLayout, kGroupKinds>& layouts,
                                   Algorithm data_algorithm) const;

  [[nodiscard]] const Contention& contention() const { return contention_; }
  [[nodiscard]] const ComputeCost& compute() const { return compute_; }
  /// Provenance in words: which profiles price computations and messages, or "unfitted".
  [[nodiscard]] const std::string& fit() const { return fit_; }
  /// The relative error that the model states about itself; plans closer than this are tied.
  [[nodiscard]] double stated_error() const { return stated_error_; }
  /// Every constant in use as "name: value unit (source)", those of the device's generation first.
  [[nodiscard]] std::vector<std::string> constants() const;

 private:
  /// One level of the cluster at its line rate.
  struct Link {
    double s_per_byte = 0;
    double latency_s = 0;
  };
  struct Links {
    std::array<Link, kMaxLevels> levels{};
    int inside = 0;             ///< Levels inside a node, the first ones.
    double nic_s_per_byte = 0;  ///< One device alone through its own NICs.
    double network_share = 1;   ///< Attainable of both.
  };
  /// Seconds of a message by part, at full size.
  struct Parts {
    double inside_s = 0;
    double network_s = 0;
    double inside_hops_s = 0;
    double network_hops_s = 0;
  };

  void set_links(const Cluster& cluster);
  [[nodiscard]] double host_s(const Operator& op) const;
  [[nodiscard]] double cast_s(const Operator& op) const;
  [[nodiscard]] double entering_share(const Operator& op, const GroupLayout& layout) const;
  [[nodiscard]] Parts parts(Collective collective, Carrier carrier, double payload_bytes,
                            const GroupLayout& layout) const;
  [[nodiscard]] double tree_hops_s(const GroupLayout& layout) const;

  DeviceConditions device_;        ///< Of the device's generation.
  FrameworkConditions framework_;  ///< Of the job's framework.
  bool graphs_ = false;
  /// Experts of a token, when a row enters each node once; 0: every copy travels.
  std::int64_t copies_once_ = 0;
  const DeviceDefaults* defaults_;  ///< Of the device's generation; lives forever.
  ComputeCost compute_;
  Links links_;
  Contention contention_;
  double imbalance_ = 1.0;
  double memory_s_per_byte_ = 0;
  std::string fit_;
  double stated_error_ = 0;
};

/// The layouts of all group kinds of a plan.
std::array<GroupLayout, kGroupKinds> group_layouts(const Cluster& cluster, const Grid& grid);

}  // namespace stepwright
