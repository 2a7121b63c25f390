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

/// The settings of a study of how the time of collectives grows with the number of nodes.
struct CollectiveScalingSettings {
  /// The clusters to study: one kind of machine with different numbers of nodes.
  std::vector<cluster::Cluster> clusters;
  std::vector<collective::CollectiveOperation> collectives;
  std::vector<double> payloads_bytes;  ///< Sizes of the full buffer, in bytes.
  /// Algorithms to study; empty: all that support the operation.
  std::vector<collective::CollectiveAlgorithm> methods;
  double message_s = collective::kDefaultMessageStartSeconds;
  /// Largest number of ranks for which schedules are also simulated, in addition to the closed
  /// form; 0: none.
  std::int64_t play_ranks = 0;
  /// True: simulate every rank. False: simulate one node where it can represent all.
  bool every_rank = false;
  int threads = 0;  ///< Number of threads; 0: one for each processor.
};

/// Seconds of a collective by one algorithm's schedule, with the number of chunks that the closed
/// form finds best.
struct CollectiveScheduleTime {
  collective::CollectiveAlgorithm method{};
  std::int32_t chunks = 1;
  double closed_s = 0;
  std::optional<double> played_s;

  [[nodiscard]] double seconds() const { return played_s.value_or(closed_s); }
};

/// The times of one collective, with one buffer size, over all ranks of one cluster.
struct CollectiveScalingPoint {
  collective::CollectiveOperation collective{};
  double payload_bytes = 0;
  std::int64_t nodes = 1;
  std::int64_t ranks = 1;
  bool played = false;
  /// Times of all algorithms whose schedules exist for these ranks, in the order of
  /// `kGeneratedCollectiveAlgorithmNames`.
  std::vector<CollectiveScheduleTime> schedules;
  collective::CollectiveTimeLowerBounds least;
  /// Seconds of an all-reduce if network switches reduce data (SHARP), and, in `adding_switches_s`,
  /// if switches inside nodes do too. nullopt: not an all-reduce.
  std::optional<double> adding_network_s;
  std::optional<double> adding_switches_s;

  /// Returns the seconds of a collective by one algorithm; nullopt: the algorithm has no schedule
  /// for these ranks.
  [[nodiscard]] std::optional<double> collective_seconds_by_algorithm(
      collective::CollectiveAlgorithm method) const;
  /// Returns the time of the fastest algorithm other than HO-Ring (hierarchical ring); null: there
  /// is none.
  [[nodiscard]] const CollectiveScheduleTime* fastest_other_than_ho_ring() const;
  /// Returns the speed-up of HO-Ring: the time of the fastest other algorithm divided by HO-Ring's;
  /// nullopt: one of them does not exist.
  [[nodiscard]] std::optional<double> ho_ring_speedup() const;
};

/// The result of a study of how the time of collectives grows with the number of nodes.
struct CollectiveScalingStudy {
  cluster::Cluster cluster;          ///< The cluster with the most nodes in the study.
  collective::GroupLinkRates links;  ///< Rates of the links between all ranks.
  /// Times of the studied collectives, sorted by operation, then buffer size, then number of nodes.
  std::vector<CollectiveScalingPoint> points;

  /// Returns, for each algorithm, the largest relative difference between closed form and
  /// simulation, |closed form / simulation - 1|, over the simulated points.
  [[nodiscard]] std::map<collective::CollectiveAlgorithm, double> closed_form_differences() const;
};

/// Computes the times of collectives over the studied clusters. Fails with `kUnsupported` if a
/// cluster has more than one level of switches inside nodes or between them, and with `kInput` if
/// it has more than `kMostScaledRanks` ranks.
CollectiveScalingStudy study_collective_scaling(const CollectiveScalingSettings& setting);
inline constexpr std::int64_t kMostScaledRanks = std::int64_t{1} << 20;

/// Returns the JSON document that `stepwright study collectives --json` prints (docs/formats.md,
/// "Study").
nlohmann::ordered_json collective_scaling_json(const CollectiveScalingStudy& study);

}  // namespace stepwright::study
