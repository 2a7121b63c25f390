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

/// The setting of a study of scaling.
struct ScalingSetting {
  std::vector<cluster::Cluster> clusters;  ///< One machine in several numbers of nodes.
  std::vector<collective::Collective> collectives;
  std::vector<double> payloads_bytes;          ///< Bytes of full buffers.
  std::vector<collective::Algorithm> methods;  ///< None: all that cover the operation.
  double message_s = collective::kMessageStart;
  std::int64_t play_ranks = 0;  ///< Groups of up to so many ranks are simulated as well.
  bool every_rank = false;      ///< Simulated, though one node could stand for all.
  int threads = 0;              ///< 0: as many as the machine has.
};

/// Seconds of one schedule, in the chunks that its closed form likes best.
struct ScheduleTime {
  collective::Algorithm method{};
  std::int32_t chunks = 1;
  double closed_s = 0;
  std::optional<double> played_s;

  [[nodiscard]] double seconds() const { return played_s.value_or(closed_s); }
};

/// One operation of one payload by all ranks of a cluster.
struct ScalingPoint {
  collective::Collective collective{};
  double payload_bytes = 0;
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  bool played = false;
  /// Schedules that exist there, in the order of `kGeneratedNames`.
  std::vector<ScheduleTime> schedules;
  collective::LeastSeconds least;
  /// The seconds of an all-reduce, with switches that add between nodes, and inside nodes as well.
  std::optional<double> adding_network_s;
  std::optional<double> adding_switches_s;

  /// The seconds; nullopt if the schedule does not exist.
  [[nodiscard]] std::optional<double> seconds(collective::Algorithm method) const;
  /// The fastest schedule that is no HO-Ring; null when there is none.
  [[nodiscard]] const ScheduleTime* rival() const;
  /// The rival's time over that of the HO-Ring, so that above 1 the HO-Ring wins; nothing without
  /// either.
  [[nodiscard]] std::optional<double> gain() const;
};

/// How the schedules of a collective scale with the nodes of a machine.
struct ScalingStudy {
  cluster::Cluster cluster;          ///< The largest cluster of the study.
  collective::GroupLinks links;      ///< Links of all its ranks.
  std::vector<ScalingPoint> points;  ///< Points by operation, payload, nodes.

  /// The largest |closed form / simulation - 1| of each schedule over the points that were played.
  [[nodiscard]] std::map<collective::Algorithm, double> differences() const;
};

/// Fails with `kUnsupported` when a cluster is not one switch inside nodes and one between them,
/// with `kInput` when it has more than `kMostScaledRanks`.
ScalingStudy study_scaling(const ScalingSetting& setting);
inline constexpr std::int64_t kMostScaledRanks = std::int64_t{1} << 20;

/// The answer of `stepwright study collectives --json` (docs/formats.md, "Study").
nlohmann::ordered_json scaling_json(const ScalingStudy& study);

}  // namespace stepwright::study
