#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/closed_form.h"
#include "stepwright/collective/least.h"
#include "stepwright/study/study.h"

namespace stepwright::study {

/// The parameters of a study of how collectives scale.
struct ScalingSetting {
  std::vector<cluster::Cluster> clusters;  ///< One machine with different numbers of nodes.
  std::vector<collective::Collective> collectives;
  std::vector<double> payloads_bytes;  ///< Payloads: bytes of the full buffer.
  /// Algorithms to study; empty: all that cover the operation.
  std::vector<collective::Algorithm> methods;
  double message_s = collective::kMessageStartSeconds;
  /// Largest group, in ranks, that is simulated in addition to the closed form; 0: none.
  std::int64_t play_ranks = 0;
  bool every_rank = false;  ///< True: simulate every rank, even if one node could represent all.
  int threads = 0;          ///< Threads; 0: one for each processor of the machine.
};

/// Seconds of one collective schedule, with the number of chunks that is best by its closed form.
struct ScheduleTime {
  collective::Algorithm method{};
  std::int32_t chunks = 1;
  double closed_s = 0;
  std::optional<double> played_s;

  [[nodiscard]] double seconds() const { return played_s.value_or(closed_s); }
};

/// One collective with one payload over all ranks of a cluster.
struct ScalingPoint {
  collective::Collective collective{};
  double payload_bytes = 0;
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  bool played = false;
  /// Schedules that exist for these ranks, in the order of `kGeneratedNames`.
  std::vector<ScheduleTime> schedules;
  collective::LeastSeconds least;
  /// Seconds of an all-reduce if the switches between nodes reduce; `adding_switches_s`: if those
  /// inside nodes do as well. nullopt: another operation.
  std::optional<double> adding_network_s;
  std::optional<double> adding_switches_s;

  /// Returns the seconds of an algorithm's schedule; nullopt: it has none here.
  [[nodiscard]] std::optional<double> seconds(collective::Algorithm method) const;
  /// Returns the fastest schedule other than HO-Ring; null: there is none.
  [[nodiscard]] const ScheduleTime* fastest_rival_schedule() const;
  /// Returns the time of `fastest_rival_schedule` divided by that of HO-Ring, so that HO-Ring is
  /// faster if it is above 1; nullopt: one of the two does not exist.
  [[nodiscard]] std::optional<double> gain() const;
};

/// The result of a study: how schedules of collectives scale with the number of nodes.
struct ScalingStudy {
  cluster::Cluster cluster;          ///< Largest cluster of the study.
  collective::GroupLinks links;      ///< Links among all ranks of `cluster`.
  std::vector<ScalingPoint> points;  ///< Points by operation, then payload, then nodes.

  /// Returns for each algorithm the largest |closed form / simulation - 1| over the simulated
  /// points.
  [[nodiscard]] std::map<collective::Algorithm, double> differences() const;
};

/// Runs the study. Fails with `kUnsupported` if a cluster has more than one switch level inside
/// nodes or between them, and with `kInput` if it has more than `kMostScaledRanks` ranks.
ScalingStudy study_scaling(const ScalingSetting& setting);
inline constexpr std::int64_t kMostScaledRanks = std::int64_t{1} << 20;

/// Returns the answer of `stepwright study collectives --json` (docs/formats.md, "Study").
nlohmann::ordered_json scaling_json(const ScalingStudy& study);

}  // namespace stepwright::study
