#include "stepwright/collective/direct.h"

#include <vector>

#include "stepwright/collective/rank_writer.h"

namespace stepwright {
namespace {

/// One rank's steps.
class DirectExchange {
 public:
  DirectExchange(const ScheduleSpec& spec, std::int32_t rank)
      : spec_(spec),
        tiers_(spec.tiers),
        rank_(rank),
        writer_(1),
        sums_(static_cast<std::size_t>(spec.chunks)) {}

  RankSchedule write() {
    const Collective collective = spec_.collective;
    const bool reduces =
        collective == Collective::kReduceScatter || collective == Collective::kAllReduce;
    if (!reduces || tiers_.ranks() == 1) {
      const bool gathers = collective == Collective::kAllGather;
      writer_.copy(gathers ? input(0) : at_input(rank_, 0),
                   collective == Collective::kReduceScatter ? output(0) : at_output(rank_, 0),
                   spec_.chunks);
    }
    if (reduces) for_each_peer([this](const Peers& peers, std::int32_t c) { reduce(peers, c); });
    if (collective == Collective::kReduceScatter) return writer_.take();
    for_each_peer([this](const Peers& peers, std::int32_t c) { exchange(peers, c); });
    return writer_.take();
  }

 private:
  struct Peers {
    std::int32_t to;
    std::int32_t from;
  };

  [[nodiscard]] PieceRun at_input(std::int32_t block, std::int32_t c) const {
    return input(std::int64_t{block} * spec_.chunks + c);
  }
  [[nodiscard]] PieceRun at_output(std::int32_t block, std::int32_t c) const {
    return output(std::int64_t{block} * spec_.chunks + c);
  }

  template <class Body>
  void for_each_peer(Body body) {
    for (std::int32_t offset = 1; offset < tiers_.ranks(); ++offset) {
      Peers peers{rank_, rank_};
      for (int level = 0; level < tiers_.levels(); ++level) {
        const std::int32_t by = tiers_.at(offset, level);
        peers.to = tiers_.moved(peers.to, level, by);
        peers.from = tiers_.moved(peers.from, level, -by);
      }
      for (std::int32_t c = 0; c < spec_.chunks; ++c) body(peers, c);
    }
  }

  void reduce(const Peers& peers, std::int32_t c) {
    const bool alone = spec_.collective == Collective::kReduceScatter;
    const PieceRun sum = alone ? output(c) : at_output(rank_, c);
    writer_.send(0, peers.to, at_input(peers.to, c));
    StepRef& added = sums_[static_cast<std::size_t>(c)];
    added = writer_.receive_reduce(0, peers.from, added.exists() ? sum : at_input(rank_, c), sum);
  }

  void exchange(const Peers& peers, std::int32_t c) {
    PieceRun sent = at_output(rank_, c);
    if (spec_.collective == Collective::kAllGather) sent = input(c);
    if (spec_.collective == Collective::kAllToAll) sent = at_input(peers.to, c);
    const StepRef step = writer_.send(0, peers.to, sent);
    writer_.wait(step, sums_[static_cast<std::size_t>(c)]);
    writer_.receive(0, peers.from, at_output(peers.from, c));
  }

  const ScheduleSpec& spec_;
  Tiers tiers_;
  std::int32_t rank_;
  RankWriter writer_;
  std::vector<StepRef> sums_;  ///< Per chunk, the last addition to the rank's own block.
};

}  // namespace

RankSchedule direct_exchange(const ScheduleSpec& spec, std::int32_t rank) {
  return DirectExchange(spec, rank).write();
}

}  // namespace stepwright
