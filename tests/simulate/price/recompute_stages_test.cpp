// Recomputation that differs by pipeline position, by hand.
#include <gtest/gtest.h>

#include <cstdint>

#include "stepwright/cluster/catalog.h"
#include "stepwright/memory/memory.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/legality.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"

namespace stepwright {
namespace {

constexpr std::int64_t kStages = 4;
constexpr std::int64_t kFull = 1;  ///< The one that recomputes.

Job four_layers() {
  Job job;
  job.model = *built_in_model("llama-3-8b");
  job.model.layers = 2 * kStages;
  job.cluster = *built_in_cluster("dgx-h100", 1);
  job.length = 4096;
  job.sequences = 2;
  return job;
}

Plan plan_with(const Recompute& recompute) {
  Plan plan;
  plan.parallel = {.pipeline = kStages, .data = 2};
  plan.recompute = recompute;
  plan.overlap = overlap_all(false);
  return plan;
}

Plan with_one() {
  return plan_with({.stages = {{.position = kFull, .kind = RecomputeKind::kFull}}});
}

double step_s(const Job& job, const Plan& plan) {
  return simulate(build_program(job, plan), CostModel(job), group_layouts(job.cluster, Grid(plan)),
                  plan)
      .step_time_s;
}

// Of two layers that run again the position keeps their inputs alone: 4,096 tokens of 4,096
// elements of two bytes each.
TEST(RecomputeByStage, APositionKeepsWhatItWouldIfAllDidTheSame) {
  const Job job = four_layers();
  const CostModel cost(job);
  Pricer pricer(job, cost);
  const PipelineParts one = pricer.parts(with_one());
  const PipelineParts none = pricer.parts(plan_with({}));
  EXPECT_DOUBLE_EQ(one.bytes[kFull][0].forward, 2.0 * 4096 * 4096 * 2);
  for (const std::size_t other : {0U, 2U, 3U}) {
    EXPECT_DOUBLE_EQ(one.bytes[other][0].forward, none.bytes[other][0].forward);
    EXPECT_DOUBLE_EQ(one.seconds.parts[other][0].backward, none.seconds.parts[other][0].backward);
  }
}

// One micro-batch goes through the pipeline and back: what one position does again is all that is
// added, and it takes about as long as that position's forward.
TEST(RecomputeByStage, OneMicroBatchWaitsForWhatRunsAgain) {
  const Job job = four_layers();
  const CostModel cost(job);
  Pricer pricer(job, cost);
  const auto backward_s = [&](const Plan& plan) {
    return pricer.parts(plan).seconds.parts[kFull][0].backward;
  };
  const Plan plain = plan_with({});
  const double again_s = backward_s(with_one()) - backward_s(plain);
  const double forward_s = pricer.parts(plain).seconds.parts[kFull][0].forward;
  EXPECT_NEAR(again_s, forward_s, 0.1 * forward_s);
  EXPECT_NEAR(step_s(job, with_one()) - step_s(job, plain), again_s, 1e-3 * again_s);
  EXPECT_NEAR(pricer.price(with_one()).seconds - pricer.price(plain).seconds, again_s,
              1e-3 * again_s);
}

TEST(RecomputeByStage, AllStagesAlikeIsThePlanWithoutThem) {
  Job job = four_layers();
  job.sequences = 32;
  Recompute all;
  for (std::int64_t position = 0; position < kStages; ++position) {
    all.stages.push_back({.position = position, .kind = RecomputeKind::kFull});
  }
  const Plan listed = plan_with(all);
  const Plan full = plan_with({.kind = RecomputeKind::kFull});
  EXPECT_EQ(canonical(listed, job), canonical(full, job));
  EXPECT_DOUBLE_EQ(step_s(job, listed), step_s(job, full));
  EXPECT_DOUBLE_EQ(memory_report(job, build_program(job, listed)).peak_bytes,
                   memory_report(job, build_program(job, full)).peak_bytes);
  const CostModel cost(job);
  Pricer pricer(job, cost);
  EXPECT_DOUBLE_EQ(pricer.price(listed).seconds, pricer.price(full).seconds);
}

}  // namespace
}  // namespace stepwright
