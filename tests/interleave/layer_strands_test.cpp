#include "stepwright/interleave/layer_strands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "stepwright/cluster/catalog.h"
#include "stepwright/interleave/interleaving.h"
#include "stepwright/interleave/pair_memory.h"
#include "stepwright/model/catalog.h"
#include "tests/interleave/count_orders.h"
#include "tests/plan/refusal.h"

namespace stepwright::interleave {
namespace {

using ::testing::HasSubstr;

plan::Job job() {
  plan::Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 64;
  return job;
}

plan::Plan plan() {
  plan::Plan plan;
  plan.parallel = {.tensor = 8};
  plan.sequence_parallel = true;
  plan.tensor_input = plan::GatheredInputPolicy::kKeep;
  return plan;
}

ForwardBackwardOperators strands(const plan::Job& job, const plan::Plan& plan,
                                 std::int64_t layer = 0) {
  return layer_operator_lists(job, plan, cost::CostModel(job), layer).pair;
}

std::set<std::string> ids(const Strand& strand) {
  std::set<std::string> ids;
  for (const InterleavedOperator& op : strand) ids.insert(op.id);
  return ids;
}

TEST(LayerOperatorLists, OfATensorParallelLayerAreThoseOfTheTable) {
  const ForwardBackwardOperators pair = strands(job(), plan());
  ASSERT_EQ(pair.forward.size(), 14U);
  for (std::size_t i = 0; i < 14; ++i) {
    EXPECT_EQ(pair.forward[i].id, "f" + std::to_string(i + 1));
    const bool sends = i == 1 || i == 5 || i == 8 || i == 12;
    EXPECT_EQ(pair.forward[i].is_collective(), sends) << pair.forward[i].id;
    EXPECT_GT(pair.forward[i].seconds, 0);
  }
  EXPECT_EQ(pair.backward.size(), 18U);
  for (int i = 1; i <= 18; ++i) EXPECT_TRUE(ids(pair.backward).contains("b" + std::to_string(i)));
  EXPECT_EQ(count_orders(pair.backward), 5824U);
  EXPECT_EQ(finished_operator_sets(pair.backward).size(), 106U);
}

TEST(LayerOperatorLists, GatherInputsAgainWhereThePlanDoes) {
  plan::Plan again = plan();
  again.tensor_input = plan::GatheredInputPolicy::kRegather;
  const std::set<std::string> found = ids(strands(job(), again).backward);
  EXPECT_EQ(found.size(), 20U);
  EXPECT_TRUE(found.contains("ag_mlp_again"));
  EXPECT_TRUE(found.contains("ag_attn_again"));
}

TEST(LayerOperatorLists, HaveNoMessagesWithoutTensorParallelism) {
  plan::Plan alone = plan();
  alone.parallel = {.data = 8};
  alone.sequence_parallel = false;
  const ForwardBackwardOperators pair = strands(job(), alone);
  EXPECT_EQ(pair.forward.size(), 10U);
  EXPECT_EQ(pair.backward.size(), 14U);
  const LayerInterleaving found = interleave_layer_forward_and_backward(pair, {});
  EXPECT_DOUBLE_EQ(found.interleaved_s, found.serial_s);
}

TEST(LayerOperatorLists, ReduceWholeRowsWithoutSequenceParallelism) {
  plan::Plan plain = plan();
  plain.sequence_parallel = false;
  const ForwardBackwardOperators pair = strands(job(), plain);
  EXPECT_EQ(pair.forward.size(), 12U);
  EXPECT_EQ(pair.backward.size(), 16U);
  const auto messages = [](const Strand& strand) {
    std::set<std::string> found;
    for (const InterleavedOperator& op : strand) {
      if (op.is_collective()) found.insert(op.id);
    }
    return found;
  };
  EXPECT_EQ(messages(pair.forward), (std::set<std::string>{"f6", "f13"}));
  EXPECT_EQ(messages(pair.backward), (std::set<std::string>{"b8", "b17"}));
  EXPECT_EQ(finished_operator_sets(pair.backward).size(), 101U);
  EXPECT_LT(interleave_layer_forward_and_backward(pair, {}).interleaved_s,
            interleave_layer_forward_and_backward(pair, {}).serial_s);
}

TEST(LayerOperatorLists, TakeLessTimeInterleaved) {
  const plan::Job own = job();
  const LayerInterleaving found = interleave_layer_forward_and_backward(
      strands(own, plan()), {.contention = cost::CostModel(own).contention()});
  EXPECT_LT(found.interleaved_s, found.serial_own_overlap_s);
  EXPECT_LE(found.event_s, found.interleaved_s * (1 + 1e-9));
}

TEST(LayerOperatorLists, RefuseWhatHasNoListYet) {
  const auto refused = [](const plan::Job& job, const plan::Plan& plan) {
    return plan::refusal_of(ErrorKind::kUnsupported, [&] { strands(job, plan); });
  };
  plan::Plan other = plan();
  other.parallel = {.tensor = 4, .context = 2};
  other.context_kind = plan::ContextKind::kUlysses;
  EXPECT_THAT(refused(job(), other), HasSubstr("context parallelism that is no ring"));
  plan::Job branches = job();
  branches.model = *model::built_in_model("gpt-neox-20b");
  EXPECT_THAT(refused(branches, plan()), HasSubstr("no list of operators yet"));
  EXPECT_THAT(plan::refusal_of(ErrorKind::kInput, [] { strands(job(), plan(), 32); }),
              HasSubstr("--layer 32: must be from 0 to 31"));
}

/// Returns the ids of the operators that an operator waits for.
std::set<std::string> needs(const Strand& strand, const std::string& id) {
  std::set<std::string> found;
  for (const InterleavedOperator& op : strand) {
    if (op.id != id) continue;
    for (const std::size_t other : op.after) found.insert(strand[other].id);
  }
  return found;
}

TEST(LayerOperatorLists, OfARingHaveAnEntryForEachBlock) {
  plan::Plan ring = plan();
  ring.parallel = {.tensor = 2, .context = 4};
  const ForwardBackwardOperators pair = strands(job(), ring);
  const std::set<std::string> forward = ids(pair.forward);
  const std::set<std::string> backward = ids(pair.backward);
  for (const char* id : {"f4.1", "f4.2", "f4.3", "f4.4"}) EXPECT_TRUE(forward.contains(id)) << id;
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(backward.contains("b14." + std::to_string(i))) << i;
  EXPECT_EQ(forward.size(), 14U + 3);
  EXPECT_FALSE(forward.contains("f4"));
  for (const InterleavedOperator& op : pair.forward) {
    const bool entry = op.id == "f4.1" || op.id == "f4.2" || op.id == "f4.3";
    if (!op.id.starts_with("f4")) continue;
    EXPECT_EQ(op.is_collective(), entry) << op.id;
  }
  EXPECT_TRUE(needs(pair.backward, "b15").contains("b14.5"));
  EXPECT_LE(interleave_layer_forward_and_backward(pair, {}).interleaved_s,
            interleave_layer_forward_and_backward(pair, {}).serial_s);
}

TEST(LayerOperatorLists, OfExpertsHaveTheirExchanges) {
  plan::Job experts = job();
  experts.model = *model::built_in_model("mixtral-8x7b");
  plan::Plan spread = plan();
  spread.parallel = {.tensor = 2, .expert = 4, .data = 4};
  const ForwardBackwardOperators pair = strands(experts, spread);
  const std::set<std::string> forward = ids(pair.forward);
  const std::set<std::string> backward = ids(pair.backward);
  for (int i = 1; i <= 11; ++i) EXPECT_TRUE(forward.contains("m" + std::to_string(i))) << i;
  for (int i = 1; i <= 13; ++i) EXPECT_TRUE(backward.contains("q" + std::to_string(i))) << i;
  EXPECT_EQ(needs(pair.backward, "q3"), std::set<std::string>{"q2"});
  EXPECT_EQ(needs(pair.backward, "q2"), std::set<std::string>{"q1"});
  EXPECT_TRUE(needs(pair.backward, "q13").contains("q10"));
  for (const InterleavedOperator& op : pair.forward) {
    const bool exchange = op.id == "m4" || op.id == "m9";
    if (!op.id.starts_with("m")) continue;
    EXPECT_EQ(op.is_collective(), exchange) << op.id;
  }
  EXPECT_LT(interleave_layer_forward_and_backward(pair, {}).interleaved_s,
            interleave_layer_forward_and_backward(pair, {}).serial_s);
}

TEST(LayerOperatorLists, OfSharedExpertsHaveABranch) {
  plan::Job shared = job();
  shared.model = *model::built_in_model("qwen2-57b-a14b");
  plan::Plan spread = plan();
  spread.parallel = {.tensor = 2, .expert = 4, .data = 4};
  const ForwardBackwardOperators pair = strands(shared, spread);
  const std::set<std::string> forward = ids(pair.forward);
  const std::set<std::string> backward = ids(pair.backward);
  for (const char* id : {"s_ag", "s_fc1", "s_swiglu", "s_fc2", "s_rs", "s_gate"}) {
    EXPECT_TRUE(forward.contains(id)) << id;
  }
  for (const char* id : {"s_gate_bwd", "s_ag_bwd", "s_fc2_bwd", "s_fc2_wgrad", "s_swiglu_bwd",
                         "s_fc1_bwd", "s_fc1_wgrad", "s_rs_bwd", "s_gate_wgrad"}) {
    EXPECT_TRUE(backward.contains(id)) << id;
  }
  EXPECT_EQ(needs(pair.forward, "s_ag"), std::set<std::string>{"m1"});
  EXPECT_TRUE(needs(pair.forward, "m11").contains("s_gate"));
  EXPECT_EQ(needs(pair.backward, "s_gate_bwd"), std::set<std::string>{"q1"});
  EXPECT_TRUE(needs(pair.backward, "q13").contains("s_rs_bwd"));
  EXPECT_GT(finished_operator_sets(pair.forward).size(), pair.forward.size() + 1);  // no chain
  const LayerInterleaving found = interleave_layer_forward_and_backward(pair, {});
  EXPECT_LT(found.interleaved_s, found.serial_s);
  EXPECT_LE(found.event_s, found.interleaved_s * (1 + 1e-9));
}

TEST(LayerOperatorLists, ComputeAgainInTheBackward) {
  plan::Plan again = plan();
  again.recompute.kind = plan::RecomputeKind::kFull;
  const ForwardBackwardOperators pair = strands(job(), again);
  const std::set<std::string> backward = ids(pair.backward);
  for (const char* id : {"re_f1", "re_f2", "re_f4", "re_f13"}) {
    EXPECT_TRUE(backward.contains(id)) << id;
  }
  EXPECT_FALSE(needs(pair.backward, "re_f1").contains("b1"));
  for (std::size_t i = 0; i < pair.backward.size(); ++i) {
    for (const std::size_t other : pair.backward[i].after) EXPECT_LT(other, i);
  }
  EXPECT_LT(interleave_layer_forward_and_backward(pair, {}).interleaved_s,
            interleave_layer_forward_and_backward(pair, {}).serial_s);
}

// 32 layers in two chunks of 16: of every third the first of each chunk is computed again.
TEST(LayerOperatorLists, ComputeAgainByTheirPlaceInTheChunk) {
  plan::Plan third = plan();
  third.parallel = {.tensor = 4, .pipeline = 2};
  third.recompute = {.kind = plan::RecomputeKind::kEvery, .every = 3};
  const auto again = [&](std::int64_t layer) {
    return ids(strands(job(), third, layer).backward).contains("re_f1");
  };
  EXPECT_TRUE(again(0));
  EXPECT_TRUE(again(15));
  EXPECT_TRUE(again(16));
  EXPECT_FALSE(again(18));
  EXPECT_TRUE(again(19));
}

TEST(LayerOperatorLists, KeepAMemoryLimit) {
  const plan::Job own = job();
  const LayerOperatorLists strands = layer_operator_lists(own, plan(), cost::CostModel(own), 0);
  InterleaveOptions options{.contention = cost::CostModel(own).contention(),
                            .extra_bytes = [&](const std::vector<InterleavedBlock>& blocks) {
                              return interleaved_pair_peak_bytes(strands, blocks, 1);
                            }};
  const LayerInterleaving free = interleave_layer_forward_and_backward(strands.pair, options);
  EXPECT_GE(free.peak_extra_bytes, free.serial_extra_bytes);
  EXPECT_GT(free.serial_extra_bytes, 0);
  options.memory_limit_bytes = free.serial_extra_bytes;
  const LayerInterleaving bound = interleave_layer_forward_and_backward(strands.pair, options);
  EXPECT_LE(bound.peak_extra_bytes, options.memory_limit_bytes);
  EXPECT_GE(bound.interleaved_s, free.interleaved_s);
  EXPECT_LE(bound.interleaved_s, bound.serial_s);
  options.memory_limit_bytes = free.serial_extra_bytes - 1;
  EXPECT_THAT(
      plan::refusal_of(ErrorKind::kInput,
                       [&] { interleave_layer_forward_and_backward(strands.pair, options); }),
      HasSubstr("--memory-limit: must be at least"));
}

std::string times(const std::string& changed, const std::string& value) {
  std::string text = "{\"forward\": {";
  for (int i = 1; i <= 14; ++i) {
    const std::string id = "f" + std::to_string(i);
    text += (i > 1 ? ", \"" : "\"") + id + "\": " + (id == changed ? value : "1");
  }
  text += "}, \"backward\": {";
  for (int i = 1; i <= 18; ++i) {
    const std::string id = "b" + std::to_string(i);
    text += (i > 1 ? ", \"" : "\"") + id + "\": " + (id == changed ? value : "2");
  }
  return text + "}}";
}

std::string refused_times(const std::string& text) {
  return plan::refusal_of(ErrorKind::kInput, [&] {
    ForwardBackwardOperators pair = strands(job(), plan());
    const YamlJsonDocument document = YamlJsonDocument::parse(text, "times.json");
    read_user_operator_times(document.root(), pair);
  });
}

TEST(Times, TakeThePlaceOfPricedSeconds) {
  ForwardBackwardOperators pair = strands(job(), plan());
  const YamlJsonDocument document = YamlJsonDocument::parse(times("f4", "0.25"), "times.json");
  read_user_operator_times(document.root(), pair);
  EXPECT_EQ(pair.forward[3].seconds, 0.25);
  EXPECT_EQ(pair.backward[0].seconds, 2);
}

// Operators that take no time are printed with 0 s, which can be read again.
TEST(Times, MayBeNoneButNotAll) {
  ForwardBackwardOperators pair = strands(job(), plan());
  const YamlJsonDocument document = YamlJsonDocument::parse(times("f4", "0"), "times.json");
  read_user_operator_times(document.root(), pair);
  EXPECT_EQ(pair.forward[3].seconds, 0);
  EXPECT_GT(interleave_layer_forward_and_backward(pair, {}).interleaved_s, 0);
  EXPECT_THAT(refused_times(std::regex_replace(times("", ""), std::regex(": [12]\\b"), ": 0")),
              HasSubstr("states 0 for all operators"));
}

TEST(Times, RefuseWhatIsNoTimeOfAnOperator) {
  for (const char* bad : {"2e6", "-1", "-1e-9", "\"fast\"", "null", "[1]"}) {
    EXPECT_THAT(refused_times(times("b7", bad)), HasSubstr("backward.b7")) << bad;
  }
  EXPECT_THAT(refused_times(times("f4", "1, \"f15\": 1")), HasSubstr("unknown key 'f15'"));
  EXPECT_THAT(refused_times("{\"forward\": {\"f1\": 1}, \"backward\": {}}"),
              HasSubstr("the key 'f2' is missing"));
  EXPECT_THAT(refused_times("{\"forward\": {}}"), HasSubstr("missing"));
}

}  // namespace
}  // namespace stepwright::interleave
