#include "stepwright/simulate/price/block_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "stepwright/cost/cost_model.h"
#include "stepwright/simulate/price/price_store.h"
#include "stepwright/simulate/price/pricer.h"
#include "tests/allocations.h"
#include "tests/step/jobs.h"

namespace stepwright::simulate {
namespace {

/// Threads of several searches share the store: if one of them runs out of memory, the others ask
/// for the same blocks again.
TEST(ModelBlockCostCache, GivesNoCostsOfWhichAPartIsMissing) {
  const plan::Job job = step::job_of("deepseek-v2-lite", 1, 16, 1024);
  plan::Plan plan = step::plan_of(job, 1, 2);
  plan.recompute.kind = plan::RecomputeKind::kFull;
  plan.recompute.every = 2;
  const cost::CostModel cost(job);
  const double right = PlanPricer(job, cost).price(plan).seconds;
  bool failed = true;
  int failures = 0;
  for (; failed; ++failures) {
    const SharedPricerCaches shared;
    PlanPricer first(job, cost, shared);
    testing::fail_allocation_after(failures);
    failed = false;
    try {
      first.blocks(plan);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    testing::fail_allocation_after(-1);
    PlanPricer second(job, cost, shared);
    try {
      EXPECT_EQ(second.price(plan).seconds, right) << failures;
    } catch (const std::bad_alloc&) {
    }
  }
  EXPECT_GT(failures, 100);
}

// Plans with different expert degrees share the costs of layers without experts.
TEST(ModelBlockCostCache, GivesTheCostsOfAPlanPricedAlone) {
  const plan::Job job = step::job_of("deepseek-v2-lite", 1, 16, 1024);
  const cost::CostModel cost(job);
  PlanPricer shared(job, cost);
  for (const std::int64_t expert : {1, 2, 8}) {
    for (const bool beside : {false, true}) {
      for (const plan::RecomputeKind kind :
           {plan::RecomputeKind::kNone, plan::RecomputeKind::kSelective}) {
        plan::Plan plan = step::plan_of(job, 1, 1);
        plan.parallel.expert = expert;
        plan.overlap.expert = beside;
        plan.recompute.kind = kind;
        const PlanPrice alone = PlanPricer(job, cost).price(plan);
        const PlanPrice price = shared.price(plan);
        EXPECT_EQ(price.seconds, alone.seconds) << expert << beside;
        EXPECT_EQ(price.lower_bound_s, alone.lower_bound_s) << expert << beside;
        EXPECT_EQ(price.memory_bytes, alone.memory_bytes) << expert << beside;
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::simulate
