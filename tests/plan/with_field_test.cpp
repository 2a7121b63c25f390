#include <gmock/gmock.h>

#include "stepwright/plan/files.h"
#include "tests/plan/refusal.h"

namespace stepwright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlannedJob planned() {
  return read_plan(Document::parse(R"(stepwright: plan/1
job:
  model: llama-3-70b
  cluster: {profile: dgx-a100-80g, nodes: 8}
  batch: {sequences: 512, length: 4096}
parallel: {tensor: 4, pipeline: 2, data: 8}
layers: [40, 40]
)",
                                   "plan.yaml"),
                   {});
}

PlannedJob with(const std::string& assignment) { return with_field(planned(), assignment); }

std::string field_refused(const std::string& assignment, ErrorKind kind = ErrorKind::kInput) {
  return refusal_of(kind, [&] { with(assignment); });
}

TEST(WithField, SetsFieldsOfThePlan) {
  EXPECT_EQ(with("micro_batch=4").plan.micro_batch, 4);
  EXPECT_EQ(with("micro_batch = 4").plan.micro_batch, 4);
  EXPECT_EQ(with("parallel.tensor=2x").plan.parallel.tensor, 8);
  EXPECT_EQ(with("buckets.gradients=0.5x").plan.gradient_bucket, 20'000'000);
  EXPECT_EQ(with("sharding.states=GGG").plan.sharding, *sharding_of("GGG"));
  EXPECT_THAT(with("layers.1=39").plan.layers, ElementsAre(40, 39));
  EXPECT_EQ(with("schedule.strands=1").plan, planned().plan);
}

TEST(WithField, ReplacesListsAndMappings) {
  EXPECT_THAT(with("layers=[30, 50]").plan.layers, ElementsAre(30, 50));
  EXPECT_TRUE(with("layers=even").plan.layers.empty());
  EXPECT_EQ(with("sharding=zero3").plan.sharding, *sharding_of("GGG"));
  EXPECT_EQ(with("recompute={every: 2}").plan.recompute,
            (Recompute{.kind = RecomputeKind::kEvery, .every = 2}));
  EXPECT_EQ(with("overlap=true").plan.overlap.tensor, true);
  EXPECT_EQ(with("schedule={kind: gpipe}").plan.schedule.kind, ScheduleKind::kGpipe);
  EXPECT_THAT(with("search={tensor: [2, 4]}").job.space.tensor, ElementsAre(2, 4));
}

TEST(WithField, SetsFieldsOfTheJobWithOrWithoutItsName) {
  EXPECT_EQ(with("job.batch.length=8192").job.length, 8192);
  EXPECT_EQ(with("batch.length=2x").job.length, 8192);
  EXPECT_EQ(with("precision=fp16").job.precision, DType::kFp16);
  EXPECT_EQ(with("dropout=0.1").job.model.dropout, 0.1);
  EXPECT_EQ(with("framework.version=0.12").job.framework.version, "0.12");
  EXPECT_EQ(with("objective.memory_limit=60e9").job.objective.memory_limit_bytes, 60e9);
  EXPECT_THAT(with("search.tensor=4").job.space.tensor, ElementsAre(4));
}

TEST(WithField, ReachesIntoModelAndCluster) {
  EXPECT_EQ(with("model.layers=40").job.model.layers, 40);
  EXPECT_EQ(with("model=llama-3-8b").job.model_name, "llama-3-8b");
  const Cluster before = planned().job.cluster;
  EXPECT_EQ(with("cluster.nic=2x").job.cluster.nic_bytes_per_s, 2 * before.nic_bytes_per_s);
  EXPECT_EQ(with("cluster.device.memory=1.5x").job.cluster.device.memory_bytes,
            1.5 * before.device.memory_bytes);
  EXPECT_EQ(with("cluster.nodes=16").job.cluster.devices(), 128);
  EXPECT_EQ(with("cluster={profile: dgx-h100, nodes: 2}").job.cluster.devices(), 16);
}

TEST(WithField, KeepsEverythingElse) {
  const PlannedJob changed = with("micro_batch=2");
  PlannedJob expected = planned();
  expected.plan.micro_batch = 2;
  EXPECT_EQ(plan_yaml(changed), plan_yaml(expected));
}

TEST(WithField, CanBeRepeated) {
  const PlannedJob changed = with_field(with("cluster.nic=2x"), "cluster.nic=2x");
  EXPECT_EQ(changed.job.cluster.nic_bytes_per_s, 4 * planned().job.cluster.nic_bytes_per_s);
}

TEST(WithField, NamesTheNearestKnownField) {
  EXPECT_THAT(field_refused("micro_bach=2"),
              HasSubstr("--set micro_bach=2: unknown field 'micro_bach'; did you mean "
                        "'micro_batch'?"));
  EXPECT_THAT(field_refused("parallel.tensr=2"), HasSubstr("did you mean 'tensor'?"));
  EXPECT_THAT(field_refused("job.batch.lenght=2"), HasSubstr("did you mean 'length'?"));
  EXPECT_THAT(field_refused("cluster.nics=2"), HasSubstr("unknown key 'nics'"));
  EXPECT_THAT(field_refused("cluster.nics=2x"),
              HasSubstr("there is no 'job.cluster.nics' to multiply; did you mean 'nic'?"));
  EXPECT_THAT(field_refused("stepwright=plan/1"), HasSubstr("unknown field 'stepwright'"));
}

TEST(WithField, RefusesWhatIsMalformed) {
  for (const std::string assignment :
       {"", "=", "=2", "micro_batch", "micro_batch=", "micro_batch=zero", "micro_batch=0",
        "micro_batch=[1]", "parallel=4", "parallel=2x", "layers=2x", "layers.5=1",
        "micro_batch.deep=1", "recompute={every: }", "overlap={tensor: [}", ".=1",
        "micro_batch=nan"}) {
    EXPECT_THAT(field_refused(assignment), HasSubstr("--set")) << assignment;
  }
  EXPECT_THAT(field_refused("micro_batch=0"),
              HasSubstr("--set micro_batch=0: micro_batch: must be an integer from 1"));
}

TEST(WithField, WhatIsKnownButNotCoveredIsUnsupported) {
  field_refused("schedule.strands=2", ErrorKind::kUnsupported);
  field_refused("schedule.kind=folded", ErrorKind::kUnsupported);
  field_refused("offload=true", ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace stepwright
