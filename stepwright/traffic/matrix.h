#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"
#include "stepwright/step/program.h"

namespace stepwright::traffic {

/// The bytes of a rank to one other in a step.
struct Edge {
  std::int64_t to = 0;
  double bytes = 0;
  bool operator==(const Edge&) const = default;
};

/// Who sends how much to whom in a step, from the algorithm of each message. By the library and in
/// rings (all-reduce, all-gather, reduce-scatter) ranks send to the next one in group order only,
/// in an all-to-all an equal part to every peer, in a shift to the next, in a pipeline transfer to
/// the rank at the same place of the stage of the next or previous chunk. On two levels messages go
/// round the ranks of the group in a node (with both at once and one switch to each of them) and
/// round the ranks at equal places of its nodes (its rail). What switches add counts as sent to the
/// peers behind the switch and along the rails. Any other algorithm sends what its schedule says,
/// rank by rank. Holds one stage's worth of numbers per stage, whatever the number of ranks.
class TrafficMatrix {
 public:
  /// `only`: the messages of one scheme; nullopt: all messages.
  TrafficMatrix(const step::StepProgram& program, const plan::Grid& grid,
                const cluster::Cluster& cluster, const plan::Collectives& collectives,
                std::optional<step::Scheme> only = std::nullopt);

  [[nodiscard]] std::int64_t ranks() const { return grid_.ranks(); }
  /// The messages of `from`, by receiver in ascending order, each once and never itself.
  [[nodiscard]] std::vector<Edge> row(std::int64_t from) const;

 private:
  enum class Reach : std::uint8_t {
    kNextInGroup,
    kEachOfGroup,
    kOtherEnd,   ///< The other end of the pipeline: from the first position to the last and back.
    kNeighbour,  ///< The rank at the same place of another pipeline position.
    kAsScheduled,
  };
  struct Flow {
    Reach reach{};
    plan::Extents group;
    std::int64_t to = -1;               ///< The position of a neighbour.
    collective::ScheduleSpec schedule;  ///< Schedule of a flow `kAsScheduled`.
    double bytes = 0;  ///< Bytes that one rank of the stage sends; as scheduled: of all payloads.
  };
  class Collector;

  /// Appends the edges of a flow from the rank at coordinates `at`.
  void append(const Flow& flow, std::int64_t from, const plan::Coordinates& at,
              std::vector<Edge>& edges) const;

  static void append_scheduled(const Flow& flow, std::int64_t from, std::vector<Edge>& edges);

  plan::Grid grid_;
  std::vector<std::vector<Flow>> flows_;  ///< Flows of each pipeline position.
};

/// Writes `from,to,bytes` lines, one per pair that talks, of one sender or of all, in ascending
/// order. Throws `Error{kInput}` for a rank that does not exist.
void write_matrix(std::ostream& out, const TrafficMatrix& matrix, std::optional<std::int64_t> from);

}  // namespace stepwright::traffic
