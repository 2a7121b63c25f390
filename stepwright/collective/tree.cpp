#include "stepwright/collective/tree.h"

#include <vector>

#include "stepwright/collective/rank_writer.h"

namespace stepwright {
namespace {

constexpr int kUpLane = 0;
constexpr int kDownLane = 1;

/// One rank's place in the tree.
class BinomialTree {
 public:
  BinomialTree(const ScheduleSpec& spec, std::int32_t rank)
      : spec_(spec), writer_(2), sent_(static_cast<std::size_t>(spec.chunks)) {
    const std::int32_t ranks = ranks_of(spec);
    for (std::int32_t bit = 1; bit < ranks; bit *= 2) {
      if ((rank & bit) != 0) {
        parent_ = rank - bit;
        break;
      }
      if (rank + bit < ranks) children_.push_back(rank + bit);
    }
  }

  RankSchedule write() {
    const bool broadcast = spec_.collective == Collective::kBroadcast;
    const bool root = parent_ < 0;
    if (root && (broadcast || children_.empty())) writer_.copy(input(0), output(0), spec_.chunks);
    for (std::int32_t c = 0; c < spec_.chunks && !broadcast; ++c) reduce(c);
    if (spec_.collective == Collective::kReduce) return writer_.take();
    for (std::int32_t c = 0; c < spec_.chunks; ++c) spread(c);
    return writer_.take();
  }

 private:
  /// Where sums stand: scratch of a rank that has no output.
  [[nodiscard]] PieceRun sum(std::int32_t c) const {
    const bool kept = parent_ < 0 || spec_.collective == Collective::kAllReduce;
    return kept ? output(c) : scratch(c);
  }

  void reduce(std::int32_t c) {
    StepRef added;
    for (const std::int32_t child : children_) {
      added = writer_.receive_reduce(kUpLane, child, added.exists() ? sum(c) : input(c), sum(c));
    }
    sums_.push_back(added);
    if (parent_ < 0) return;
    sent_[c] = writer_.send(kUpLane, parent_, added.exists() ? sum(c) : input(c));
    writer_.wait(sent_[c], added);
  }

  void spread(std::int32_t c) {
    const bool root = parent_ < 0;
    StepRef has = root && !sums_.empty() ? sums_[c] : StepRef{};
    if (!root) {
      has = writer_.receive(kDownLane, parent_, output(c));
      writer_.wait(has, sent_[c]);
    }
    const bool given = root && spec_.collective == Collective::kBroadcast;
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
      writer_.wait(writer_.send(kDownLane, *child, given ? input(c) : output(c)), has);
    }
  }

  const ScheduleSpec& spec_;
  RankWriter writer_;
  std::int32_t parent_ = -1;
  std::vector<std::int32_t> children_;  ///< The smallest subtree first.
  std::vector<StepRef> sums_;           ///< Per chunk.
  std::vector<StepRef> sent_;           ///< Per chunk, the send of its sum.
};

}  // namespace

RankSchedule binomial_tree(const ScheduleSpec& spec, std::int32_t rank) {
  return BinomialTree(spec, rank).write();
}

}  // namespace stepwright
