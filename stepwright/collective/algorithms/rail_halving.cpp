#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/rank_writer.h"

namespace stepwright::collective {
namespace {

constexpr int kHalvesInside = 0;
constexpr int kHalvesRail = 1;

/// Writes one rank's steps. Scratch holds, for each member of the node, the blocks of its rail,
/// node by node.
class RailHalving {
 public:
  RailHalving(const CollectiveScheduleSpec& spec, std::int32_t rank)
      : spec_(spec),
        nodes_(spec.tiers.back()),
        members_(collective_schedule_rank_count(spec) / nodes_),
        node_(rank / members_),
        member_(rank % members_),
        writer_(2) {}

  RankCollectiveSchedule write() {
    if (spec_.collective == CollectiveOperation::kAllGather) {
      have_ = writer_.copy(input_piece(0), at(member_, node_), spec_.chunks);
    } else {
      reduce_inside();
      reduce_on_rail();
    }
    if (spec_.collective == CollectiveOperation::kReduceScatter) return writer_.take();
    gather_on_rail();
    gather_inside();
    return writer_.take();
  }

 private:
  [[nodiscard]] std::int64_t pieces(std::int64_t blocks) const { return blocks * spec_.chunks; }
  /// The block of rank (`node`, `member`) in a full buffer.
  [[nodiscard]] std::int64_t block(std::int32_t node, std::int32_t member) const {
    return pieces(std::int64_t{node} * members_ + member);
  }
  [[nodiscard]] PieceRunStart at(std::int32_t member, std::int32_t node) const {
    return scratch(pieces(std::int64_t{member} * nodes_ + node));
  }
  [[nodiscard]] std::int32_t inside(std::int32_t member) const { return node_ * members_ + member; }
  [[nodiscard]] std::int32_t other(std::int32_t by) const {
    return (member_ + by + members_) % members_;
  }
  /// First node of the run of `bit` nodes that contains `node`.
  static std::int32_t run(std::int32_t node, std::int32_t bit) { return node / bit * bit; }

  void reduce_inside() {
    for (std::int32_t j = 0; j < members_; ++j) {
      for (std::int32_t i = 0; i < nodes_; ++i) {
        have_ = writer_.copy(input_piece(block(i, j)), at(j, i), spec_.chunks);
      }
    }
    const CollectiveStepReference copied = have_;
    for (std::int32_t k = 1; k < members_; ++k) {
      sent_inside_ = writer_.send(kHalvesInside, inside(other(k)), at(other(k), 0), pieces(nodes_));
      writer_.add_step_dependency(sent_inside_, copied);
      have_ = writer_.append_receive_and_add(kHalvesInside, inside(other(-k)), at(member_, 0),
                                             at(member_, 0), pieces(nodes_));
      writer_.add_step_dependency(have_, copied);
    }
  }

  void reduce_on_rail() {
    const bool ends = spec_.collective == CollectiveOperation::kReduceScatter;
    for (std::int32_t bit = nodes_ / 2; bit >= 1; bit /= 2) {
      const std::int32_t far = node_ ^ bit;
      const PieceRunStart kept = at(member_, run(node_, bit));
      sent_ = writer_.send(kHalvesRail, far * members_ + member_, at(member_, run(far, bit)),
                           pieces(bit));
      writer_.add_step_dependency(sent_, have_);
      const CollectiveStepReference added =
          writer_.append_receive_and_add(kHalvesRail, far * members_ + member_, kept,
                                         ends && bit == 1 ? output(0) : kept, pieces(bit));
      writer_.add_step_dependency(added, have_);
      have_ = added;
    }
    if (!ends || nodes_ > 1) return;
    writer_.add_step_dependency(writer_.copy(at(member_, 0), output(0), spec_.chunks), have_);
  }

  void gather_on_rail() {
    own_ = have_;
    for (std::int32_t bit = 1; bit < nodes_; bit *= 2) {
      const std::int32_t far = node_ ^ bit;
      const CollectiveStepReference step = writer_.send(kHalvesRail, far * members_ + member_,
                                                        at(member_, run(node_, bit)), pieces(bit));
      writer_.add_step_dependency(step, have_);
      writer_.add_step_dependency(step, own_);
      have_ = writer_.receive(kHalvesRail, far * members_ + member_, at(member_, run(far, bit)),
                              pieces(bit));
      writer_.add_step_dependency(have_, sent_);  // The sums stored there have been sent.
    }
  }

  void gather_inside() {
    const CollectiveStepReference rail = have_;
    take_out(member_, rail);
    for (std::int32_t k = 1; k < members_; ++k) {
      const CollectiveStepReference step =
          writer_.send(kHalvesInside, inside(other(k)), at(member_, 0), pieces(nodes_));
      writer_.add_step_dependency(step, rail);
      writer_.add_step_dependency(step, own_);
      const CollectiveStepReference came =
          writer_.receive(kHalvesInside, inside(other(-k)), at(other(-k), 0), pieces(nodes_));
      writer_.add_step_dependency(came, sent_inside_);
      take_out(other(-k), came);
    }
  }

  /// Copies the blocks of a member's rail from scratch to their places in the output.
  void take_out(std::int32_t member, CollectiveStepReference came) {
    for (std::int32_t i = 0; i < nodes_; ++i) {
      const CollectiveStepReference step =
          writer_.copy(at(member, i), output(block(i, member)), spec_.chunks);
      writer_.add_step_dependency(step, came);
    }
  }

  const CollectiveScheduleSpec& spec_;
  std::int32_t nodes_;
  std::int32_t members_;
  std::int32_t node_;
  std::int32_t member_;
  RankCollectiveScheduleWriter writer_;
  /// Step whose result the next step on a rail reads.
  CollectiveStepReference have_;
  CollectiveStepReference own_;          ///< Step that completes the rank's own block.
  CollectiveStepReference sent_;         ///< The last send of a sum on the rail.
  CollectiveStepReference sent_inside_;  ///< The last send of a sum inside the node.
};

RankCollectiveSchedule rail_halving(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return RailHalving(spec, rank).write();
}

double rail_halving_s(const CollectiveClosedFormTerms& t) {
  double seconds = (t.members - 1) * t.chunk_send_busy_s(t.inside, t.nodes * t.chunks) +
                   last_intra_node_latency(t);
  for (std::int32_t bit = 1; bit < t.nodes; bit *= 2) {
    seconds += t.chunk_send_busy_s(t.rail, bit * t.chunks) + t.rail.latency_s;
  }
  return t.passes * seconds;
}

}  // namespace

/// Two levels one after the other, for tiers {m, n} with n = 2^k nodes: recursive doubling
/// (all-gather) or halving (reduce-scatter) along the rails, and direct messages of a whole rail
/// inside the nodes.
///
/// | operation | messages of a rank | sends per rank inside | on its rail |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | log2 n + m-1 | (m-1)/m V | (n-1)/(nm) V |
/// | all-reduce | twice that | 2 (m-1)/m V | 2 (n-1)/(nm) V |
///
/// It has the minimum bytes on either level in few messages, for many nodes; the levels wait for
/// each other. Blocks are stored rail by rail in scratch (V bytes), so that messages are whole
/// runs.
const CollectiveAlgorithmDefinition algorithms::kRailHalving = {
    .text = "halving and doubling along the rails, 2^k nodes, and inside the nodes in turn",
    .covers = kCollectivesWithBlockPerRank,
    .lies = is_two_level_group,
    .exists = [](std::int64_t /*members*/, std::int64_t nodes) { return is_power_of_two(nodes); },
    .group_requirement_text = "several ranks on each of several nodes, a power of two of them",
    .across = NodeScheduleSymmetry::kHalves,
    .scratch =
        [](const CollectiveScheduleSpec& spec) {
          return collective_schedule_rank_count(spec) * spec.chunks;
        },
    .rank = rail_halving,
    .seconds = rail_halving_s};

}  // namespace stepwright::collective
