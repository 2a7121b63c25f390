#include "stepwright/interleave/interleaving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stepwright/interleave/timeline_text.h"
#include "tests/interleave/count_orders.h"

namespace stepwright::interleave {
namespace {

constexpr cost::LinkClass kCompute = cost::LinkClass::kNone;
constexpr cost::LinkClass kTensor = cost::LinkClass::kInside;

Strand chain(const std::vector<std::pair<cost::LinkClass, double>>& operators) {
  Strand strand;
  for (const auto& [link, seconds] : operators) {
    InterleavedOperator op{
        .id = "f" + std::to_string(strand.size() + 1), .link = link, .seconds = seconds};
    if (!strand.empty()) op.after = {strand.size() - 1};
    strand.push_back(op);
  }
  return strand;
}

/// Returns the dense layer of DHelix (2411.15871) with the times of its default plan.
ForwardBackwardOperators dense() {
  ForwardBackwardOperators pair;
  pair.forward = chain({{kCompute, 2},
                        {kTensor, 10},
                        {kCompute, 12},
                        {kCompute, 9},
                        {kCompute, 4},
                        {kTensor, 10},
                        {kCompute, 2},
                        {kCompute, 2},
                        {kTensor, 10},
                        {kCompute, 20},
                        {kCompute, 3},
                        {kCompute, 10},
                        {kTensor, 10},
                        {kCompute, 2}});
  const double seconds[] = {2, 10, 10, 10, 4, 20, 20, 10, 3, 2, 10, 4, 4, 20, 12, 12, 10, 3};
  const std::vector<std::size_t> after[] = {{},   {1},  {2},    {2},  {3},  {5},
                                            {5},  {6},  {8, 1}, {9},  {10}, {11},
                                            {11}, {12}, {14},   {14}, {15}, {17, 10}};
  for (std::size_t i = 0; i < 18; ++i) {
    const std::size_t number = i + 1;
    InterleavedOperator op{.id = "b" + std::to_string(number), .seconds = seconds[i]};
    for (const std::size_t other : after[i]) op.after.push_back(other - 1);
    if (number == 2 || number == 8 || number == 11 || number == 17) op.link = kTensor;
    op.weight_gradient = number == 4 || number == 7 || number == 13 || number == 16;
    pair.backward.push_back(op);
  }
  return pair;
}

TEST(Strand, OfADenseBackwardHasSoManyOrdersAndStates) {
  EXPECT_EQ(count_orders(dense().backward), 5824U);
  EXPECT_EQ(finished_operator_sets(dense().backward).size(), 106U);
  EXPECT_EQ(finished_operator_sets(dense().forward).size(), 15U);
  EXPECT_EQ(count_orders(dense().forward), 1U);
}

TEST(Interleave, OfTheDenseLayerHasThePublishedFigures) {
  const LayerInterleaving still = interleave_layer_forward_and_backward(dense(), {.rotate = false});
  EXPECT_DOUBLE_EQ(still.serial_s, 272);
  EXPECT_DOUBLE_EQ(still.serial_own_overlap_s, 252);
  EXPECT_DOUBLE_EQ(still.interleaved_s, 200);
  EXPECT_DOUBLE_EQ(still.exposed_s, 8);
  EXPECT_DOUBLE_EQ(still.lower_bound_s, 192);
  EXPECT_LE(still.event_s, 200);
  const LayerInterleaving rotated = interleave_layer_forward_and_backward(dense(), {});
  EXPECT_DOUBLE_EQ(rotated.interleaved_s, 192);
  EXPECT_EQ(rotated.starts_at, "f3");
  EXPECT_DOUBLE_EQ(rotated.event_s, 192);
}

/// Finds the best order by trying every block from every state.
class BruteForce {
 public:
  BruteForce(const ForwardBackwardOperators& pair, const cost::OverlapSlowdownFactors& contention)
      : pair_(pair),
        contention_(contention),
        forward_(transitive_operator_dependencies(pair.forward)),
        backward_(transitive_operator_dependencies(pair.backward)) {}

  double least(OperatorSet forward, OperatorSet backward) {
    const OperatorSet all_forward = only(pair_.forward.size()) - 1;
    const OperatorSet all_backward = only(pair_.backward.size()) - 1;
    if (forward == all_forward && backward == all_backward) return 0;
    const auto [known, fresh] = least_.try_emplace({forward, backward}, 1e300);
    if (!fresh) return known->second;
    double best = 1e300;
    for (OperatorSet f = 0; f <= all_forward; ++f) {
      if ((f & forward) != 0 || !closed(forward_, forward | f)) continue;
      for (OperatorSet b = 0; b <= all_backward; ++b) {
        if ((b & backward) != 0 || (f | b) == 0 || !closed(backward_, backward | b)) continue;
        const double seconds = block(f, b);
        if (seconds < 0) continue;
        best = std::min(best, seconds + least(forward | f, backward | b));
      }
    }
    return least_[{forward, backward}] = best;
  }

 private:
  static bool closed(const std::vector<OperatorSet>& needed, OperatorSet set) {
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (holds(set, i) && (needed[i] & ~set) != 0) return false;
    }
    return true;
  }

  /// Returns the time of a block; negative: it is no block.
  double block(OperatorSet f, OperatorSet b) const {
    std::array<double, cost::kLinkClasses> sent{};
    double compute_s = 0;
    if (!add(pair_.forward, forward_, f, sent, compute_s)) return -1;
    if (!add(pair_.backward, backward_, b, sent, compute_s)) return -1;
    return interleaved_block_seconds(sent, compute_s, contention_);
  }

  static bool add(const Strand& strand, const std::vector<OperatorSet>& needed, OperatorSet set,
                  std::array<double, cost::kLinkClasses>& sent, double& compute_s) {
    for (std::size_t i = 0; i < strand.size(); ++i) {
      if (!holds(set, i)) continue;
      if (!strand[i].is_collective()) {
        compute_s += strand[i].seconds;
        continue;
      }
      double& link = sent[static_cast<std::size_t>(strand[i].link)];
      if (link > 0 || (needed[i] & set) != 0) return false;
      for (std::size_t j = 0; j < strand.size(); ++j) {
        if (holds(set, j) && holds(needed[j], i)) return false;
      }
      link = strand[i].seconds;
    }
    return true;
  }

  const ForwardBackwardOperators& pair_;
  cost::OverlapSlowdownFactors contention_;
  std::vector<OperatorSet> forward_;
  std::vector<OperatorSet> backward_;
  std::map<std::pair<OperatorSet, OperatorSet>, double> least_;
};

ForwardBackwardOperators random_pair(std::uint32_t seed) {
  std::mt19937 engine(seed);
  const auto link = [&] {
    return static_cast<cost::LinkClass>(engine() % 4 == 0 ? 1 + engine() % 2 : 0);
  };
  const auto seconds = [&] { return 1.0 + engine() % 16; };
  ForwardBackwardOperators pair;
  std::vector<std::pair<cost::LinkClass, double>> forward;
  for (std::size_t i = 0; i < 2 + seed % 4; ++i) forward.emplace_back(link(), seconds());
  pair.forward = chain(forward);
  for (std::size_t i = 0; i < 6; ++i) {
    InterleavedOperator op{.id = "b" + std::to_string(i + 1), .link = link(), .seconds = seconds()};
    for (std::size_t j = 0; j < i; ++j) {
      if (engine() % 3 == 0) op.after.push_back(j);
    }
    pair.backward.push_back(op);
  }
  return pair;
}

TEST(Interleave, IsAsFastAsTheBestOfAllBlocks) {
  for (const cost::OverlapSlowdownFactors& contention :
       {cost::OverlapSlowdownFactors{}, cost::OverlapSlowdownFactors{1.4, 1.25}}) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      const ForwardBackwardOperators pair = random_pair(seed);
      const LayerInterleaving found =
          interleave_layer_forward_and_backward(pair, {contention, false});
      EXPECT_NEAR(found.interleaved_s, BruteForce(pair, contention).least(0, 0), 1e-9) << seed;
    }
  }
}

TEST(Interleave, StartsWhereTheBestOfAllBlocksDoes) {
  for (const cost::OverlapSlowdownFactors& contention :
       {cost::OverlapSlowdownFactors{}, cost::OverlapSlowdownFactors{1.4, 1.25}}) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
      const ForwardBackwardOperators pair = random_pair(seed);
      double least = 1e300;
      ForwardBackwardOperators turned = pair;
      for (std::size_t start = 0; start < pair.forward.size(); ++start) {
        least = std::min(least, BruteForce(turned, contention).least(0, 0));
        std::ranges::rotate(turned.forward, turned.forward.begin() + 1);
        for (std::size_t i = 0; i < turned.forward.size(); ++i) {
          turned.forward[i].after.clear();
          if (i > 0) turned.forward[i].after = {i - 1};
        }
      }
      EXPECT_NEAR(interleave_layer_forward_and_backward(pair, {contention, true}).interleaved_s,
                  least, 1e-9)
          << seed;
    }
  }
}

/// Forward passes with operators that can run in either order, such as shared experts beside routed
/// ones.
TEST(Interleave, OfForwardsWithBranchesIsAsFastAsTheBestOfAllBlocks) {
  for (const cost::OverlapSlowdownFactors& contention :
       {cost::OverlapSlowdownFactors{}, cost::OverlapSlowdownFactors{1.4, 1.25}}) {
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
      ForwardBackwardOperators pair = random_pair(seed);
      pair.forward = random_pair(seed + 1000).backward;
      pair.forward.pop_back();
      for (InterleavedOperator& op : pair.forward) op.id.front() = 'f';
      const LayerInterleaving found =
          interleave_layer_forward_and_backward(pair, {contention, false});
      EXPECT_NEAR(found.interleaved_s, BruteForce(pair, contention).least(0, 0), 1e-9) << seed;
    }
  }
}

TEST(Interleave, HoldsEachOperatorOnceInTheTimeItSays) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const ForwardBackwardOperators pair = random_pair(seed);
    const LayerInterleaving found = interleave_layer_forward_and_backward(
        pair, {cost::OverlapSlowdownFactors{1.4, 1.25}, seed % 2 == 0});
    std::vector<std::string> ids;
    double sum = 0;
    for (const InterleavedBlock& block : found.blocks) {
      for (const auto* list : {&block.forward, &block.backward, &block.communication}) {
        ids.insert(ids.end(), list->begin(), list->end());
      }
      sum += block.seconds;
    }
    EXPECT_EQ(ids.size(), pair.forward.size() + pair.backward.size());
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    EXPECT_NEAR(sum, found.interleaved_s, 1e-9);
    EXPECT_LE(found.event_s, found.interleaved_s * (1 + 1e-9)) << seed;
    EXPECT_GE(found.interleaved_s, found.lower_bound_s * (1 - 1e-9));
    EXPECT_LE(found.interleaved_s, found.serial_s * (1 + 1e-9));
  }
}

TEST(Timeline, DrawsComputationOverMessages) {
  ForwardBackwardOperators pair;
  pair.forward = chain({{kCompute, 2}, {kTensor, 4}, {kCompute, 2}});
  pair.backward = {{.id = "b1", .seconds = 4}};
  const InterleaveOptions options{.rotate = false};
  EXPECT_EQ(interleaving_timeline_text(pair, interleave_layer_forward_and_backward(pair, options),
                                       options.contention, 33),
            "computation  |f1 -|b1 -----|f3 -|\n"
            "node's links |    |f2 =====|    |\n");
  pair.backward.front().seconds = 2;  // ends before the message does
  EXPECT_EQ(interleaving_timeline_text(pair, interleave_layer_forward_and_backward(pair, options),
                                       options.contention, 33),
            "computation  |f1 -|b1 -    |f3 -|\n"
            "node's links |    |f2 =====|    |\n");
}

TEST(Timeline, BreaksLinesBetweenBlocks) {
  const std::string text = interleaving_timeline_text(
      dense(), interleave_layer_forward_and_backward(dense(), {}), {}, 60);
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 60U);
    lines += end > begin;
    begin = end + 1;
  }
  EXPECT_GE(lines, 4U);
  EXPECT_EQ(lines % 2, 0U);
  for (const char* id : {"f3", "b16", "f2'", "f1'"}) {
    EXPECT_NE(text.find(id), std::string::npos) << id;
  }
}

}  // namespace
}  // namespace stepwright::interleave
