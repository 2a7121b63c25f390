#include "stepwright/interleave/layer_strands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stepwright/cluster/catalog.h"
#include "stepwright/interleave/interleaving.h"
#include "stepwright/model/catalog.h"
#include "tests/plan/refusal.h"

namespace stepwright {
namespace {

using ::testing::HasSubstr;

Job job() {
  Job job;
  job.model = *built_in_model("llama-3-8b");
  job.cluster = *built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 64;
  return job;
}

Plan plan() {
  Plan plan;
  plan.parallel = {.tensor = 8};
  plan.sequence_parallel = true;
  plan.tensor_input = TensorInput::kKeep;
  return plan;
}

StrandPair strands(const Job& job, const Plan& plan, std::int64_t layer = 0) {
  return layer_strands(job, plan, CostModel(job), layer);
}

std::set<std::string> ids(const Strand& strand) {
  std::set<std::string> ids;
  for (const StrandOperator& op : strand) ids.insert(op.id);
  return ids;
}

TEST(LayerStrands, OfATensorParallelLayerAreThoseOfTheTable) {
  const StrandPair pair = strands(job(), plan());
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
  EXPECT_EQ(order_ideals(pair.backward).size(), 106U);
}

TEST(LayerStrands, GatherInputsAgainWhereThePlanDoes) {
  Plan again = plan();
  again.tensor_input = TensorInput::kRegather;
  const std::set<std::string> found = ids(strands(job(), again).backward);
  EXPECT_EQ(found.size(), 20U);
  EXPECT_TRUE(found.contains("ag_mlp_again"));
  EXPECT_TRUE(found.contains("ag_attn_again"));
}

TEST(LayerStrands, HaveNoMessagesWithoutTensorParallelism) {
  Plan alone = plan();
  alone.parallel = {.data = 8};
  alone.sequence_parallel = false;
  const StrandPair pair = strands(job(), alone);
  EXPECT_EQ(pair.forward.size(), 10U);
  EXPECT_EQ(pair.backward.size(), 14U);
  const Interleaving found = interleave(pair, {});
  EXPECT_DOUBLE_EQ(found.interleaved_s, found.serial_s);
}

TEST(LayerStrands, TakeLessTimeInterleaved) {
  const Job own = job();
  const Interleaving found =
      interleave(strands(own, plan()), {.contention = CostModel(own).contention()});
  EXPECT_LT(found.interleaved_s, found.serial_own_overlap_s);
  EXPECT_LE(found.event_s, found.interleaved_s * (1 + 1e-9));
}

TEST(LayerStrands, RefuseWhatHasNoListYet) {
  const auto refused = [](const Job& job, const Plan& plan) {
    return refusal_of(ErrorKind::kUnsupported, [&] { strands(job, plan); });
  };
  Plan other = plan();
  other.recompute.kind = RecomputeKind::kFull;
  EXPECT_THAT(refused(job(), other), HasSubstr("layers with recomputation"));
  other = plan();
  other.sequence_parallel = false;
  EXPECT_THAT(refused(job(), other), HasSubstr("without sequence parallelism"));
  other = plan();
  other.parallel = {.tensor = 4, .context = 2};
  EXPECT_THAT(refused(job(), other), HasSubstr("context parallelism"));
  Job experts = job();
  experts.model = *built_in_model("mixtral-8x7b");
  EXPECT_THAT(refused(experts, plan()), HasSubstr("experts"));
  Job branches = job();
  branches.model = *built_in_model("gpt-neox-20b");
  EXPECT_THAT(refused(branches, plan()), HasSubstr("no list of operators yet"));
  EXPECT_THAT(refusal_of(ErrorKind::kInput, [] { strands(job(), plan(), 32); }),
              HasSubstr("--layer 32: must be from 0 to 31"));
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
  return refusal_of(ErrorKind::kInput, [&] {
    StrandPair pair = strands(job(), plan());
    const Document document = Document::parse(text, "times.json");
    read_times(document.root(), pair);
  });
}

TEST(Times, TakeThePlaceOfPricedSeconds) {
  StrandPair pair = strands(job(), plan());
  const Document document = Document::parse(times("f4", "0.25"), "times.json");
  read_times(document.root(), pair);
  EXPECT_EQ(pair.forward[3].seconds, 0.25);
  EXPECT_EQ(pair.backward[0].seconds, 2);
}

TEST(Times, RefuseWhatIsNoTimeOfAnOperator) {
  for (const char* bad : {"0", "-1", "\"fast\"", "null", "[1]"}) {
    EXPECT_THAT(refused_times(times("b7", bad)), HasSubstr("backward.b7")) << bad;
  }
  EXPECT_THAT(refused_times(times("f4", "1, \"f15\": 1")), HasSubstr("unknown key 'f15'"));
  EXPECT_THAT(refused_times("{\"forward\": {\"f1\": 1}, \"backward\": {}}"),
              HasSubstr("the key 'f2' is missing"));
  EXPECT_THAT(refused_times("{\"forward\": {}}"), HasSubstr("missing"));
}

}  // namespace
}  // namespace stepwright
