// Recomputation that differs by pipeline position, worked by hand.
#include <gtest/gtest.h>

#include <cstdint>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {
namespace {

constexpr std::int64_t kStages = 4;
constexpr std::int64_t kFull = 1;  ///< Index of the stage that recomputes.

plan::Job four_layers() {
  plan::Job job;
  job.model = *model::built_in_model("llama-3-8b");
  job.model.layers = 2 * kStages;
  job.cluster = *cluster::built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 2;
  return job;
}

plan::Plan plan_with(const plan::ActivationRecomputation& recompute) {
  plan::Plan plan;
  plan.parallel = {.pipeline = kStages, .data = 2};
  plan.recompute = recompute;
  plan.overlap = plan::all_overlap_flags(false);
  return plan;
}

plan::Plan with_one() {
  return plan_with({.stages = {{.position = kFull, .kind = plan::RecomputeKind::kFull}}});
}

double step_s(const plan::Job& job, const plan::Plan& plan) {
  return simulate_step_program(step::build_step_program(job, plan), cost::CostModel(job),
                               cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)),
                               plan)
      .step_time_s;
}

// Of two layers that run again the position keeps their inputs alone: 4,096 tokens of 4,096
// elements of two bytes each.
TEST(RecomputeByStage, APositionKeepsWhatItWouldIfAllDidTheSame) {
  const plan::Job job = four_layers();
  const cost::CostModel cost(job);
  PlanPricer pricer(job, cost);
  const ModelChunkSecondsAndBytes one = pricer.chunk_seconds_and_bytes_of_plan(with_one());
  const ModelChunkSecondsAndBytes none = pricer.chunk_seconds_and_bytes_of_plan(plan_with({}));
  EXPECT_DOUBLE_EQ(one.bytes[kFull][0].forward, 2.0 * 4096 * 4096 * 2);
  for (const std::size_t other : {0U, 2U, 3U}) {
    EXPECT_DOUBLE_EQ(one.bytes[other][0].forward, none.bytes[other][0].forward);
    EXPECT_DOUBLE_EQ(one.seconds.parts[other][0].backward, none.seconds.parts[other][0].backward);
  }
}

// One micro-batch passes through the pipeline and back: the only addition is the recomputation of
// one position, which takes about as long as that position's forward pass.
TEST(RecomputeByStage, OneMicroBatchWaitsForWhatRunsAgain) {
  const plan::Job job = four_layers();
  const cost::CostModel cost(job);
  PlanPricer pricer(job, cost);
  const auto backward_s = [&](const plan::Plan& plan) {
    return pricer.chunk_seconds_and_bytes_of_plan(plan).seconds.parts[kFull][0].backward;
  };
  const plan::Plan plain = plan_with({});
  const double again_s = backward_s(with_one()) - backward_s(plain);
  const double forward_s =
      pricer.chunk_seconds_and_bytes_of_plan(plain).seconds.parts[kFull][0].forward;
  EXPECT_NEAR(again_s, forward_s, 0.1 * forward_s);
  EXPECT_NEAR(step_s(job, with_one()) - step_s(job, plain), again_s, 1e-3 * again_s);
  EXPECT_NEAR(pricer.price(with_one()).seconds - pricer.price(plain).seconds, again_s,
              1e-3 * again_s);
}

TEST(RecomputeByStage, AllStagesAlikeIsThePlanWithoutThem) {
  plan::Job job = four_layers();
  job.sequences = 32;
  plan::ActivationRecomputation all;
  for (std::int64_t position = 0; position < kStages; ++position) {
    all.stages.push_back({.position = position, .kind = plan::RecomputeKind::kFull});
  }
  const plan::Plan listed = plan_with(all);
  const plan::Plan full = plan_with({.kind = plan::RecomputeKind::kFull});
  EXPECT_EQ(plan::canonical_plan(listed, job), plan::canonical_plan(full, job));
  EXPECT_DOUBLE_EQ(step_s(job, listed), step_s(job, full));
  EXPECT_DOUBLE_EQ(memory::memory_report(job, step::build_step_program(job, listed)).peak_bytes,
                   memory::memory_report(job, step::build_step_program(job, full)).peak_bytes);
  const cost::CostModel cost(job);
  PlanPricer pricer(job, cost);
  EXPECT_DOUBLE_EQ(pricer.price(listed).seconds, pricer.price(full).seconds);
}

}  // namespace
}  // namespace stepwright::simulate
