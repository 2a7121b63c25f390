#include <algorithm>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/rank_writer.h"

namespace stepwright::collective {
namespace {

constexpr int kInsideLane = 0;
constexpr int kRailLane = 1;

/// Writes one rank's steps. In stage t, blocks go to the group t places after and come from the
/// group t places before.
class RelayExchange {
 public:
  RelayExchange(const CollectiveScheduleSpec& spec, std::int32_t rank)
      : chunks_(spec.chunks),
        rank_(rank),
        members_(spec.tiers.front()),
        groups_(collective_schedule_rank_count(spec) / members_),
        writer_(2) {}

  RankCollectiveSchedule write() {
    const Stage own{rank_, rank_, 0};
    for (std::int32_t c = 0; c < chunks_; ++c) pass_inside(own, c, {});
    for (std::int32_t t = 1; t < groups_; ++t) {
      const Stage stage{rank_at(t), rank_at(-t), t};
      for (std::int32_t c = 0; c < chunks_; ++c) pass_inside(stage, c, exchange_on_rail(stage, c));
    }
    return writer_.take();
  }

 private:
  struct Stage {
    std::int32_t to;
    std::int32_t from;
    std::int32_t number;
  };

  /// The rank with this rank's index in the group `by` places after.
  [[nodiscard]] std::int32_t rank_at(std::int32_t by) const {
    const std::int32_t ranks = groups_ * members_;
    return ((rank_ + by * members_) % ranks + ranks) % ranks;
  }
  [[nodiscard]] std::int32_t group_begin(std::int32_t rank) const {
    return rank / members_ * members_;
  }
  [[nodiscard]] std::int64_t piece(std::int32_t block, std::int32_t c) const {
    return static_cast<std::int64_t>(block) * chunks_ + c;
  }
  /// Where the block for member `place` of this group is stored until it is passed on.
  [[nodiscard]] PieceRunStart relayed(const Stage& stage, std::int32_t place,
                                      std::int32_t c) const {
    return scratch(piece((stage.number - 1) * members_ + place, c));
  }

  /// Exchanges chunk c of the blocks of a whole group; with one chunk they are one run. Returns the
  /// last receive.
  CollectiveStepReference exchange_on_rail(const Stage& stage, std::int32_t c) {
    const bool whole = chunks_ == 1;
    CollectiveStepReference last;
    for (std::int32_t place = 0; place < (whole ? 1 : members_); ++place) {
      const std::int32_t run = whole ? members_ : 1;
      writer_.send(kRailLane, stage.to, input_piece(piece(group_begin(stage.to) + place, c)), run);
      last = writer_.receive(kRailLane, stage.from, relayed(stage, place, c), run);
    }
    return last;
  }

  void pass_inside(const Stage& stage, std::int32_t c, CollectiveStepReference arrived) {
    const auto held = [&](std::int32_t place) {
      if (stage.number > 0) return relayed(stage, place, c);
      return input_piece(piece(group_begin(rank_) + place, c));
    };
    const std::int32_t own = rank_ - group_begin(rank_);
    const CollectiveStepReference copied = writer_.copy(held(own), output(piece(stage.from, c)));
    writer_.add_step_dependency(copied, arrived);
    for (std::int32_t k = 1; k < members_; ++k) {
      const std::int32_t to = (own + k) % members_;
      const std::int32_t from = (own + members_ - k) % members_;
      writer_.add_step_dependency(writer_.send(kInsideLane, group_begin(rank_) + to, held(to)),
                                  arrived);
      writer_.receive(kInsideLane, group_begin(rank_) + from,
                      output(piece(group_begin(stage.from) + from, c)));
    }
  }

  std::int32_t chunks_;
  std::int32_t rank_;
  std::int32_t members_;
  std::int32_t groups_;
  RankCollectiveScheduleWriter writer_;
};

RankCollectiveSchedule relay_exchange(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return RelayExchange(spec, rank).write();
}

std::int32_t relay_scratch(const CollectiveScheduleSpec& spec) {
  const std::int32_t groups = collective_schedule_rank_count(spec) / spec.tiers.front();
  return (groups - 1) * spec.tiers.front() * spec.chunks;
}

double relay_s(const CollectiveClosedFormTerms& t) {
  const double pass = intra_node_exchange_s(t, IntraGroupPattern::kDirect);
  const double stage = t.chunks * pass;
  const double message =
      t.chunks == 1 ? t.chunk_send_busy_s(t.rail, t.members) : t.members * t.rail.bytes_s;
  const double end = last_intra_node_latency(t);
  if (t.nodes == 1) return stage + end;
  const double rail = (t.nodes - 1) * t.chunks * message + t.rail.latency_s;
  const double first = std::max(stage, message + t.rail.latency_s);
  return std::max(rail + pass, first + (t.nodes - 1) * stage) + end;
}

}  // namespace

/// The hierarchical all-to-all of expert parallelism, for tiers {m, n}: blocks for another group
/// are sent along the rail as one message for the whole group, and the rank there passes them on
/// inside while the next message arrives.
///
/// | per rank | inside | on its rail |
/// |---|---|---|
/// | bytes | (m-1)/m V | (n-1)/n V |
/// | messages | (m-1) n C | (n-1), with C > 1 chunks (n-1) m C |
///
/// The bytes on the rail are those of a direct exchange, in (n-1) messages instead of (n-1) m; a
/// row for several ranks of a group may be sent there once. Scratch: (n-1)/n V.
const CollectiveAlgorithmDefinition algorithms::kRelay = {
    .text = "all-to-all along the rails, passed on inside the nodes",
    .covers = {CollectiveOperation::kAllToAll},
    .lies = is_two_level_group,
    .group_requirement_text = kTwoLevelNeeds,
    .is_run_by_own_process_group = true,
    .sent =
        [](double payload_bytes, double members, double nodes) {
          return payload_bytes * ((members - 1) / members + (nodes - 1) / nodes);
        },
    .scratch = relay_scratch,
    .rank = relay_exchange,
    .seconds = relay_s};

}  // namespace stepwright::collective
