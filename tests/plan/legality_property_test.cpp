#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>

#include "random_plans.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/legality.h"
#include "validator.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace stepwright {
namespace {

TEST(LegalityProperty, AgreesWithDoingWhatThePlanAsks) {
  Dice dice(8);
  int legal = 0;
  constexpr int kPlans = 40'000;
  for (int i = 0; i < kPlans; ++i) {
    const Job job = random_job(dice);
    const Plan plan = random_plan(dice, job);
    const std::optional<Rejected> rejected = illegal(job, plan);
    EXPECT_EQ(!rejected, can_be_done(job, plan))
        << plan_text(plan) << (rejected ? rejected->message : "");
    legal += rejected ? 0 : 1;
  }
  EXPECT_GT(legal, kPlans / 50);
  EXPECT_LT(legal, kPlans / 2);
}

TEST(LegalityProperty, WhatIsProposedIsLegal) {
  Dice dice(9);
  int proposed = 0;
  for (int i = 0; i < 5'000; ++i) {
    const Job job = random_job(dice);
    const Plan plan = random_plan(dice, job);
    const std::optional<Rejected> rejected = illegal(job, plan);
    if (!rejected) continue;
    for (const Plan& near : rejected->nearest) {
      EXPECT_TRUE(can_be_done(job, near)) << rejected->message;
      EXPECT_NE(near, plan);
      ++proposed;
    }
  }
  EXPECT_GT(proposed, 1'000);
}

TEST(LegalityProperty, LegalValuesAreListed) {
  Dice dice(10);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_legal_plan(dice, job);
    const auto lists = [](const std::vector<std::int64_t>& values, std::int64_t value) {
      return std::ranges::binary_search(values, value);
    };
    const Parallel& degrees = plan.parallel;
    EXPECT_TRUE(lists(legal_tensor_sizes(job), degrees.tensor));
    EXPECT_TRUE(lists(legal_context_sizes(job), degrees.context));
    EXPECT_TRUE(lists(legal_pipeline_sizes(job), degrees.pipeline));
    EXPECT_TRUE(lists(legal_expert_sizes(job), degrees.expert));
    EXPECT_TRUE(lists(legal_expert_tensor_sizes(job), degrees.expert_tensor));
    EXPECT_TRUE(lists(legal_micro_batches(job, degrees.data), plan.micro_batch));
    EXPECT_TRUE(lists(legal_sharding_groups(plan), plan.sharding.group));
    EXPECT_TRUE(lists(legal_expert_groups(plan), plan.sharding.expert_group));
  }
}

TEST(LegalityProperty, NeitherRulesNorGridsNorLayoutsAllocate) {
  Dice dice(11);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_plan(dice, job);
    const Plan legal = random_legal_plan(dice, job);
    const std::int64_t before = allocations;
    const std::optional<Rule> broken = broken_rule(job, plan);
    const std::optional<Rejected> rejected = illegal(job, legal);
    const Grid grid(legal);
    std::int64_t sharers = 0;
    for (const auto& [kind, name] : kGroupNames) {
      sharers += group_layout(job.cluster, grid.shape(kind)).sharers[0];
    }
    EXPECT_EQ(allocations, before) << sharers << broken.has_value() << rejected.has_value();
  }
}

}  // namespace
}  // namespace stepwright
