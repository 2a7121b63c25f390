#include "stepwright/tune/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"

namespace stepwright::tune {
namespace {

using ::testing::HasSubstr;

/// Returns a job for a single node, because its search fixes the data-parallel size.
plan::Job swept_job() {
  return plan::read_job(
      YamlJsonDocument::parse("stepwright: job/2\nmodel: llama-3-8b\n"
                              "cluster: {profile: dgx-h100, nodes: 2}\n"
                              "batch: {sequences: 64, length: 4096}\n"
                              "search: {tensor: 8, pipeline: 1, context: 1, data: [1, 2]}\n",
                              "job.yaml"),
      {});
}

TuneResult search(const plan::Job& job) { return tune(job, {.threads = 1}); }

std::string refusal_of(const std::string& text) {
  try {
    read_tune_sweep(swept_job(), text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return {};
}

TEST(TuneSweep, EachPointIsTheJobWithItsValue) {
  const plan::Job job = swept_job();
  const TuneSweep nodes = read_tune_sweep(job, "cluster.nodes=1,2, 4");
  ASSERT_EQ(nodes.points.size(), 3U);
  EXPECT_EQ(nodes.points[0].job.cluster.nodes, 1);
  EXPECT_EQ(nodes.points[2].job.cluster.nodes, 4);
  EXPECT_EQ(nodes.points[2].job.space, job.space);
  const TuneSweep nics = read_tune_sweep(job, "cluster.nic=0.5x,2x");
  EXPECT_DOUBLE_EQ(nics.points[0].job.cluster.nic_bytes_per_s * 4,
                   nics.points[1].job.cluster.nic_bytes_per_s);
  EXPECT_EQ(read_tune_sweep(job, "cluster.profile=dgx-h200").points[0].job.cluster.nodes, 2);
  EXPECT_EQ(read_tune_sweep(job, "batch.length=2048").points[0].job.length, 2048);
}

TEST(TuneSweep, EachPlanIsTheBestOfItsJob) {
  TuneSweep sweep = read_tune_sweep(swept_job(), "cluster.nodes=1,2,4");
  tune_sweep_values(sweep, search);
  for (const std::size_t i : {0, 1}) {
    const TuneResult alone = search(sweep.points[i].job);
    ASSERT_TRUE(sweep.points[i].best);
    EXPECT_EQ(sweep.points[i].best->plan, alone.plans.front().plan);
    EXPECT_EQ(sweep.points[i].best->step_time_s, alone.plans.front().step_time_s);
  }
  EXPECT_FALSE(sweep.points[2].best);
  EXPECT_THAT(sweep.points[2].refused, HasSubstr("data"));
  const nlohmann::ordered_json json = sweep_json(sweep, TrainingLengthAndPrice{1e12, 2.0});
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(json[0]["value"], 1);
  for (const char* key : {"plan", "step_time_s", "mfu", "days", "gpu_hours", "cost"}) {
    EXPECT_TRUE(json[0].contains(key)) << key;
    EXPECT_FALSE(json[2].contains(key)) << key;
  }
  EXPECT_TRUE(json[2].contains("refused"));
}

TEST(TuneSweep, RefusesWhatIsNoFieldOfTheJob) {
  EXPECT_THAT(refusal_of("clutser.nodes=1,2"), HasSubstr("did you mean 'cluster'?"));
  EXPECT_THAT(refusal_of("cluster.nodse=1,2"), HasSubstr("--sweep cluster.nodse=1"));
  EXPECT_THAT(refusal_of("micro_batch=1,2"), HasSubstr("micro_batch is a field of plans"));
  EXPECT_THAT(refusal_of("cluster.nodes"), HasSubstr("must be FIELD=VALUE,VALUE,..."));
  EXPECT_THAT(refusal_of("=1,2"), HasSubstr("must be FIELD=VALUE,VALUE,..."));
  EXPECT_THAT(refusal_of("cluster.nodes="), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal_of("cluster.nodes=1,,2"), HasSubstr("a value is missing"));
  EXPECT_THAT(refusal_of("cluster.nodes=1,many"), HasSubstr("many"));
}

}  // namespace
}  // namespace stepwright::tune
