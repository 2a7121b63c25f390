#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"
#include "stepwright/step/program.h"

namespace stepwright::traffic {

/// The bytes that one rank sends to another rank (`to`) in a step.
struct TrafficEdge {
  std::int64_t to = 0;
  double bytes = 0;
  bool operator==(const TrafficEdge&) const = default;
};

/// The bytes that each rank sends to each other rank in a step.
///
/// With the library's algorithms and in rings (all-reduce, all-gather, reduce-scatter) a rank sends
/// only to the next in group order; in an all-to-all, an equal share to every peer; in a shift, to
/// the next; in a pipeline transfer, to the rank at the same position in the stage of the next or
/// previous chunk. Two-level algorithms send in a ring among the group's ranks within a node, and
/// in a ring among the ranks at equal positions of its nodes (a rail). If both levels run at once
/// behind one switch, each rank sends to every rank of its node instead of the next. Data that
/// switches add counts as sent to the peers behind the switch and along the rails. All other
/// algorithms send what their schedules say, rank by rank. The memory needed grows with the number
/// of stages, not of ranks.
class TrafficMatrix {
 public:
  /// `only`: count only messages of this scheme (kind of parallelism); nullopt: all messages.
  TrafficMatrix(const step::StepProgram& program, const plan::RankGrid& grid,
                const cluster::Cluster& cluster,
                const plan::CollectiveAlgorithmChoices& collectives,
                std::optional<step::ParallelismScheme> only = std::nullopt);

  [[nodiscard]] std::int64_t ranks() const { return grid_.ranks(); }
  /// Returns the bytes that rank `from` sends to each receiver, in ascending order of receivers;
  /// each occurs once.
  [[nodiscard]] std::vector<TrafficEdge> traffic_sent_by_rank(std::int64_t from) const;

 private:
  enum class Reach : std::uint8_t {
    kNextInGroup,
    kEachOfGroup,
    /// The rank at the same position in the stage at the pipeline's other end: the last stage if
    /// the first one sends, the first stage if the last one sends.
    kOtherEnd,
    kNeighbour,  ///< The rank at the same position in another pipeline stage.
    kAsScheduled,
  };
  struct Flow {
    Reach reach{};
    plan::StridedRanks group;
    std::int64_t to = -1;  ///< Pipeline stage that receives the messages.
    /// Collective schedule whose messages a `kAsScheduled` flow sends.
    collective::CollectiveScheduleSpec schedule;
    /// Bytes that one rank of the stage sends; for a `kAsScheduled` flow, the sum of all its
    /// messages' full buffers.
    double bytes = 0;
  };
  class Collector;

  /// Appends the bytes that rank `from` sends in a flow (equal messages of a stage), as edges to
  /// its receivers. `at`: the rank's coordinates in the plan's grid.
  void append(const Flow& flow, std::int64_t from, const plan::RankCoordinates& at,
              std::vector<TrafficEdge>& edges) const;

  static void append_scheduled(const Flow& flow, std::int64_t from,
                               std::vector<TrafficEdge>& edges);

  plan::RankGrid grid_;
  /// For each pipeline stage, the messages that its ranks send, summed by kind of receiver.
  std::vector<std::vector<Flow>> flows_;
};

/// Writes the bytes between ranks as `from,to,bytes` lines in ascending order, one for each pair
/// with traffic, for one sender or for all (nullopt). Fails with `kInput` for a rank that does not
/// exist.
void write_traffic_matrix(std::ostream& out, const TrafficMatrix& matrix,
                          std::optional<std::int64_t> from);

}  // namespace stepwright::traffic
