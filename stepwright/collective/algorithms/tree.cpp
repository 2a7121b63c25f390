#include <algorithm>
#include <vector>

#include "stepwright/collective/definition.h"
#include "stepwright/collective/rank_writer.h"

namespace stepwright::collective {
namespace {

constexpr int kUpLane = 0;
constexpr int kDownLane = 1;

/// One rank's parent and children in the tree.
class BinomialTree {
 public:
  BinomialTree(const CollectiveScheduleSpec& spec, std::int32_t rank)
      : spec_(spec), writer_(2), sent_(static_cast<std::size_t>(spec.chunks)) {
    const std::int32_t ranks = collective_schedule_rank_count(spec);
    for (std::int32_t bit = 1; bit < ranks; bit *= 2) {
      if ((rank & bit) != 0) {
        parent_ = rank - bit;
        break;
      }
      if (rank + bit < ranks) children_.push_back(rank + bit);
    }
  }

  RankCollectiveSchedule write() {
    const bool broadcast = spec_.collective == CollectiveOperation::kBroadcast;
    const bool root = parent_ < 0;
    if (root && (broadcast || children_.empty()))
      writer_.copy(input_piece(0), output(0), spec_.chunks);
    for (std::int32_t c = 0; c < spec_.chunks && !broadcast; ++c) reduce(c);
    if (spec_.collective == CollectiveOperation::kReduce) return writer_.take();
    for (std::int32_t c = 0; c < spec_.chunks; ++c) spread(c);
    return writer_.take();
  }

 private:
  /// Where sums are stored: in the output, or in scratch on a rank without an output.
  [[nodiscard]] PieceRunStart sum(std::int32_t c) const {
    const bool kept = parent_ < 0 || spec_.collective == CollectiveOperation::kAllReduce;
    return kept ? output(c) : scratch(c);
  }

  void reduce(std::int32_t c) {
    CollectiveStepReference added;
    for (const std::int32_t child : children_) {
      added = writer_.append_receive_and_add(kUpLane, child,
                                             added.exists() ? sum(c) : input_piece(c), sum(c));
    }
    sums_.push_back(added);
    if (parent_ < 0) return;
    sent_[c] = writer_.send(kUpLane, parent_, added.exists() ? sum(c) : input_piece(c));
    writer_.add_step_dependency(sent_[c], added);
  }

  void spread(std::int32_t c) {
    const bool root = parent_ < 0;
    CollectiveStepReference has = root && !sums_.empty() ? sums_[c] : CollectiveStepReference{};
    if (!root) {
      has = writer_.receive(kDownLane, parent_, output(c));
      writer_.add_step_dependency(has, sent_[c]);
    }
    const bool given = root && spec_.collective == CollectiveOperation::kBroadcast;
    for (auto child = children_.rbegin(); child != children_.rend(); ++child) {
      writer_.add_step_dependency(
          writer_.send(kDownLane, *child, given ? input_piece(c) : output(c)), has);
    }
  }

  const CollectiveScheduleSpec& spec_;
  RankCollectiveScheduleWriter writer_;
  std::int32_t parent_ = -1;
  /// Children of the rank, the one with the smallest subtree first.
  std::vector<std::int32_t> children_;
  std::vector<CollectiveStepReference> sums_;  ///< For each chunk, the step that sums it.
  std::vector<CollectiveStepReference> sent_;  ///< For each chunk, the step that sends its sum.
};

RankCollectiveSchedule binomial_tree(const CollectiveScheduleSpec& spec, std::int32_t rank) {
  return BinomialTree(spec, rank).write();
}

/// Seconds from the root of a binomial tree of `ranks` to its last rank, for one chunk of the
/// buffer.
double spread_s(const CollectiveClosedFormTerms& t, std::int32_t ranks) {
  double sent = 0;
  double last = 0;
  std::int32_t bit = 1;
  while (bit * 2 < ranks) bit *= 2;
  for (; bit >= 1 && ranks > 1; bit /= 2) {
    const MessageChunkSendCost& hop = bit < t.members ? t.inside : t.lone;
    sent += t.chunk_send_busy_s(hop, t.ranks);
    const std::int32_t below = std::min(bit, ranks - bit);
    double inside = 0;
    if (below == bit) {
      for (std::int32_t b = 1; b < bit; b *= 2) {
        const MessageChunkSendCost& lower = b < t.members ? t.inside : t.lone;
        inside += t.chunk_send_busy_s(lower, t.ranks) + lower.latency_s;
      }
    } else {
      inside = spread_s(t, below);
    }
    last = std::max(last, sent + hop.latency_s + inside);
  }
  return last;
}

/// Seconds of a tree. The two halves of an all-reduce in chunks share links; this form runs one
/// after the other.
double tree_s(const CollectiveClosedFormTerms& t) {
  double busy = 0;
  for (std::int32_t bit = 1; bit < t.ranks; bit *= 2) {
    busy += t.chunk_send_busy_s(bit < t.members ? t.inside : t.lone, t.ranks);
  }
  return t.passes * (spread_s(t, static_cast<std::int32_t>(t.ranks)) + (t.chunks - 1) * busy);
}

}  // namespace

/// Binomial trees with root 0 over any number of ranks, the buffer in C chunks:
///
/// | operation | rounds | the root sends | a rank sends at most |
/// |---|---|---|---|
/// | broadcast | ceil(log2 N) | ceil(log2 N) V | ceil(log2 N) V |
/// | reduce | ceil(log2 N) | - | V |
/// | all-reduce (reduce, then broadcast) | 2 ceil(log2 N) | ceil(log2 N) V | (1 + ceil(log2 N)) V |
///
/// The parent of rank r is r without its lowest set bit. In groups of 2^k consecutive ranks, each
/// group is entered once: one message per node and direction. Suited to small buffers. Scratch of a
/// reduce: V.
const CollectiveAlgorithmDefinition algorithms::kTree = {
    .text = "binomial tree for small buffers; log2 N rounds of the whole buffer",
    .covers = {CollectiveOperation::kBroadcast, CollectiveOperation::kReduce,
               CollectiveOperation::kAllReduce},
    .lies = [](const GroupNodeLayout& form) { return form.nodes > 1; },
    .group_requirement_text = "several nodes",
    .in_library = {CollectiveOperation::kAllReduce},
    .nccl = {"tree", "tree", "allreduce:tree"},
    .is_run_by_own_process_group = true,
    .across = NodeScheduleSymmetry::kUnlike,
    .whole_buffer = true,
    .scratch =
        [](const CollectiveScheduleSpec& spec) {
          return spec.collective == CollectiveOperation::kReduce ? spec.chunks : 0;
        },
    .rank = binomial_tree,
    .seconds = tree_s};

}  // namespace stepwright::collective
