#include "stepwright/step/pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "stepwright/step/layer.h"
#include "stepwright/step/rough_seconds.h"
#include "tests/step/jobs.h"

namespace stepwright::step {
namespace {

struct Pair {
  std::string name;
  ModelBlockTemplatePair blocks;
  PairOrder order;
  OperatorTemplate piece;
};

/// Returns pairs of layers of several architectures under several plans.
std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "gpt-neox-20b", "deepseek-v3"}) {
    const plan::Job job = job_of(model, 1, 8, 4096);
    for (const std::int64_t context : {1, 2}) {
      for (const plan::LayerRecompute& recompute : {plan::kNoRecompute, plan::kWholeRecompute}) {
        const plan::Plan plan = plan_of(job, 2, 1, context);
        const model::LayerClass last = job.model.layer_class(job.model.layers - 1);
        Pair pair{model, build_layer_templates(make_setting(job, plan), last, recompute), {}, {}};
        const OperatorTemplate& forward = pair.blocks.forward;
        const OperatorTemplate& backward = pair.blocks.backward;
        pair.order = interleaved_issue_order(forward, backward,
                                             RoughOperatorSeconds(job, plan::RankGrid(plan)));
        pair.piece = merge_forward_backward_templates(forward, backward, pair.order);
        all.push_back(std::move(pair));
      }
    }
  }
  return all;
}

TEST(PairTemplate, HasEveryOperatorOfBothOnce) {
  for (const Pair& pair : pairs()) {
    const std::size_t forward = pair.blocks.forward.operators.size();
    const std::size_t all = forward + pair.blocks.backward.operators.size();
    EXPECT_EQ(std::set(pair.order.begin(), pair.order.end()).size(), all) << pair.name;
    ASSERT_EQ(pair.piece.operators.size(), all);
    const auto second = std::ranges::count(pair.piece.operators, 1, &Operator::strand);
    EXPECT_EQ(second, std::ssize(pair.blocks.backward.operators));
    EXPECT_EQ(pair.piece.tensors.size(),
              pair.blocks.forward.tensors.size() + pair.blocks.backward.tensors.size());
  }
}

TEST(PairTemplate, IssuesAfterWhatAnOperatorNeedsAndNeedsNothingOfTheOtherStrand) {
  for (const Pair& pair : pairs()) {
    for (std::size_t i = 0; i < pair.piece.operators.size(); ++i) {
      const Operator& op = pair.piece.operators[i];
      for (const std::int32_t other : pair.piece.after(op)) {
        ASSERT_LT(other, static_cast<std::int32_t>(i)) << pair.name;
        EXPECT_EQ(pair.piece.operators[static_cast<std::size_t>(other)].strand, op.strand);
      }
    }
  }
}

/// Counts of the computations and messages in a template, over both strands.
using Work = std::map<std::tuple<OperatorKind, std::string, Phase, std::int64_t>, int>;
void add(Work& work, const OperatorTemplate& piece) {
  for (const Operator& op : piece.operators) {
    ++work[{op.kind, std::string(op.name), op.phase, op.payload_elements}];
  }
}

TEST(PairTemplate, DoesTheSameWorkAndSendsTheSame) {
  for (const Pair& pair : pairs()) {
    Work apart;
    add(apart, pair.blocks.forward);
    add(apart, pair.blocks.backward);
    Work together;
    add(together, pair.piece);
    EXPECT_EQ(apart, together) << pair.name;
  }
}

TEST(PairTemplate, NoMessageStandsInTheWayOfComputation) {
  for (const Pair& pair : pairs()) {
    for (const Operator& op : pair.piece.operators) {
      EXPECT_EQ(op.stream == DeviceStream::kCompute, !is_communication(op.kind)) << op.name;
    }
  }
}

TEST(PairTemplate, KeepsOperandsAndParametersApart) {
  for (const Pair& pair : pairs()) {
    const auto own = static_cast<TensorId>(pair.blocks.forward.tensors.size());
    for (const Operator& op : pair.piece.operators) {
      for (const auto ids : {pair.piece.reads(op), pair.piece.writes(op)}) {
        for (const TensorId id : ids) EXPECT_EQ(id >= own, op.strand == 1) << op.name;
      }
      if (op.parameter < 0) continue;
      const bool second =
          op.parameter >= static_cast<ParameterId>(pair.blocks.forward.parameters.size());
      EXPECT_EQ(second, op.strand == 1) << op.name;
    }
  }
}

TEST(PairOrder, HidesMessagesBehindTheOtherStrand) {
  const plan::Job job = job_of("llama-3-8b", 1, 8, 4096);
  const plan::Plan plan = plan_of(job, 8, 1);
  const ModelBlockTemplatePair blocks =
      build_layer_templates(make_setting(job, plan), job.model.layer_class(0), plan::kNoRecompute);
  const PairOrder order =
      interleaved_issue_order(blocks.forward, blocks.backward, [](const Operator&) { return 1.0; });
  const OperatorTemplate piece =
      merge_forward_backward_templates(blocks.forward, blocks.backward, order);
  // After every message except the last ones, some computation runs before the operator that waits
  // for it.
  int covered = 0;
  int messages = 0;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    if (!is_communication(piece.operators[i].kind)) continue;
    ++messages;
    for (std::size_t k = i + 1; k < piece.operators.size(); ++k) {
      const auto after = piece.after(piece.operators[k]);
      if (std::ranges::find(after, static_cast<std::int32_t>(i)) != after.end()) break;
      if (is_communication(piece.operators[k].kind)) continue;
      ++covered;
      break;
    }
  }
  EXPECT_GE(messages, 8);
  EXPECT_GE(covered, messages - 2);
}

}  // namespace
}  // namespace stepwright::step
