#include "stepwright/tune/search.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "small_jobs.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/tune/evaluation.h"
#include "tests/plan/shown.h"

namespace stepwright::tune {
namespace {

constexpr std::uint64_t kSpaces = 100;

struct Prepared {
  explicit Prepared(plan::Job with)
      : job(std::move(with)),
        cost(job),
        space(search_space_dimensions(job)),
        enumeration(job, space) {}
  [[nodiscard]] SearchFindings search(bool exhaustive, std::size_t keep, int threads = 1) const {
    const SearchGoal goal{.room = room(), .keep = keep, .exhaustive = exhaustive};
    return PlanSearch(job, cost, enumeration)
        .search_space_for_goal(goal, {.threads = threads, .progress = {}});
  }
  [[nodiscard]] simulate::AvailablePlanMemory room() const {
    simulate::AvailablePlanMemory room = simulate::plan_memory_limit(job);
    room.device_bytes = job.cluster.device.memory_bytes;
    return room;
  }
  plan::Job job;
  cost::CostModel cost;
  SearchSpaceDimensions space;
  LegalPlanCounter enumeration;
};

// The plan with the least price does not fit, a slower one does: bounds are wanted up to that one.
TEST(BestPlanCandidates, LookAgainUpToAPlanThatFits) {
  BestPlanCandidates plans(2);
  plans.limit_keys_of_kept_candidates(std::numeric_limits<double>::infinity(), 3.0, 4.0);
  EXPECT_DOUBLE_EQ(plans.lower_bound_to_reconsider_plan_s(), 4 * (1 - kMinPriceGapToRevisitPlan));
  EXPECT_DOUBLE_EQ(BestPlanCandidates(2, &plans).lower_bound_to_reconsider_plan_s(),
                   plans.lower_bound_to_reconsider_plan_s());
  plans.offer(3.0, plan::Plan{}, {.seconds = 3.0, .lower_bound_s = 2.5});
  plans.offer(4.5, plan::Plan{}, {.seconds = 4.5, .lower_bound_s = 3.9});
  plans.offer(5.0, plan::Plan{}, {.seconds = 5.0, .lower_bound_s = 3.5});
  plans.offer(6.0, plan::Plan{}, {.seconds = 6.0, .lower_bound_s = 3.95});
  ASSERT_EQ(plans.undecided_candidates().size(), 1U);
  EXPECT_EQ(plans.undecided_candidates().front().price.seconds, 5.0);
  EXPECT_EQ(plans.min_lower_bound_of_dropped_plans(), 3.95);
}

void expect_same(const std::vector<PlanCandidate>& a, const std::vector<PlanCandidate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].plan, b[i].plan) << "place " << i;
    EXPECT_EQ(a[i].price.seconds, b[i].price.seconds) << "place " << i;
  }
}

TEST(Search, FindsWhatVisitingEveryPlanFinds) {
  std::uint64_t answered = 0;
  for (std::uint64_t seed = 0; seed < kSpaces; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(small_random_job(seed));
    const SearchFindings all = prepared.search(true, 20);
    const SearchFindings bounded = prepared.search(false, 20);
    expect_same(bounded.kept.list(), all.kept.list());
    EXPECT_LE(bounded.priced, all.priced);
    answered += all.kept.list().empty() ? 0 : 1;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GE(answered, kSpaces / 2);
}

// Floors that one search shares between pipelines leave out plans that its own threshold excludes.
TEST(Search, ForgetsWhatAnEarlierSearchLeftOut) {
  int narrowed = 0;
  for (std::uint64_t seed = 0; seed < kSpaces; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(small_random_job(seed));
    const SearchFindings alone = prepared.search(false, 20);
    if (alone.kept.list().empty()) continue;
    PlanSearch search(prepared.job, prepared.cost, prepared.enumeration);
    const double half_s = alone.kept.list().front().price.seconds / 2;
    SearchGoal goal{.room = prepared.room(), .keep = 20, .known = {.best = half_s, .last = half_s}};
    EXPECT_TRUE(search.search_space_for_goal(goal, {.progress = {}}).kept.list().empty());
    goal.known = {};
    const SearchFindings after = search.search_space_for_goal(goal, {.progress = {}});
    expect_same(after.kept.list(), alone.kept.list());
    EXPECT_EQ(after.passed_bound_s, alone.passed_bound_s);
    ++narrowed;
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GE(narrowed, 50);
}

TEST(Search, VisitsAsManyPlansAsTheCensusCounts) {
  for (std::uint64_t seed = 0; seed < kSpaces; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(small_random_job(seed));
    EXPECT_EQ(prepared.search(true, 5).priced, prepared.enumeration.legal());
  }
}

/// Returns a job that lists a deferred head, which some losses do not allow.
plan::Job with_deferred_heads(std::uint64_t seed) {
  plan::Job job = small_random_job(seed);
  job.space.overlap = {plan::OverlapFlags{}, {.defer_embedding_gradient = true}};
  if (seed % 3 == 0)
    job.space.overlap.push_back({.gradients = false, .defer_embedding_gradient = true});
  if (seed % 8 == 7) job.kernels.loss_chunks = 4;
  if (seed % 2 == 0) job.model.vocabulary *= 16;
  return job;
}

TEST(Search, FindsWhatVisitingEveryPlanFindsOfDeferredHeads) {
  int deferring = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(with_deferred_heads(seed));
    const SearchFindings all = prepared.search(true, 20);
    expect_same(prepared.search(false, 20).kept.list(), all.kept.list());
    EXPECT_EQ(all.priced, prepared.enumeration.legal());
    for (const PlanCandidate& candidate : all.kept.list()) {
      deferring += candidate.plan.overlap.defer_embedding_gradient ? 1 : 0;
    }
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
  EXPECT_GT(deferring, 25);
}

TEST(Search, NeverDefersAHeadThatNothingLists) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    plan::Job job = small_random_job(seed);
    job.space.overlap.clear();
    const Prepared prepared(std::move(job));
    const SearchFindings found = prepared.search(false, 20);
    for (const PlanCandidate& candidate : found.kept.list()) {
      EXPECT_FALSE(candidate.plan.overlap.defer_embedding_gradient) << plan::shown(candidate.plan);
    }
  }
}

TEST(Search, DoesNotDependOnThreads) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Prepared prepared(small_random_job(seed));
    const SearchFindings one = prepared.search(false, 10, 1);
    const SearchFindings three = prepared.search(false, 10, 3);
    expect_same(one.kept.list(), three.kept.list());
    EXPECT_EQ(one.priced, three.priced);
    EXPECT_EQ(one.fitting, three.fitting);
    EXPECT_EQ(one.passed_bound_s, three.passed_bound_s);
  }
}

TEST(Search, KeepsLegalCanonicalPlansThatFit) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Prepared prepared(small_random_job(seed));
    const SearchFindings found = prepared.search(false, 50);
    for (const PlanCandidate& candidate : found.kept.list()) {
      EXPECT_FALSE(plan::find_plan_rejection(prepared.job, candidate.plan))
          << plan::shown(candidate.plan);
      EXPECT_EQ(candidate.plan, plan::canonical_plan(candidate.plan, prepared.job))
          << plan::shown(candidate.plan);
      EXPECT_LE(candidate.price.memory_bytes, prepared.job.cluster.device.memory_bytes);
      EXPECT_EQ(candidate.key, candidate.price.seconds);
    }
  }
}

TEST(Search, PassesOverNothingFasterThanItsBound) {
  constexpr std::size_t kKept = 5;
  std::size_t checked = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(small_random_job(seed));
    const SearchFindings bounded = prepared.search(false, kKept);
    double bound =
        std::min(bounded.passed_bound_s, bounded.kept.min_lower_bound_of_dropped_plans());
    for (const PlanCandidate& open : bounded.kept.undecided_candidates()) {
      bound = std::min(bound, open.price.lower_bound_s);
    }
    const std::vector<PlanCandidate> all = prepared.search(true, 40).kept.list();
    for (std::size_t i = kKept; i < all.size(); i += 5, ++checked) {
      const TunedPlan plan = simulate_plan(prepared.job, prepared.cost, all[i].plan, all[i].price);
      EXPECT_LE(bound, plan.step_time_s * (1 + 1e-9)) << plan::shown(all[i].plan);
    }
  }
  EXPECT_GT(checked, 100);
}

/// Returns a job with small devices, and hosts with room for part of the states that may be
/// offloaded.
plan::Job with_small_hosts(std::uint64_t seed) {
  plan::Job job = small_random_job(seed);
  constexpr std::array kDevices{2e9, 3e9, 4e9};
  constexpr std::array kHosts{0.5e9, 1e9, 2e9, 4e9};
  job.cluster.device.memory_bytes = kDevices[seed % kDevices.size()];
  job.cluster.device.host_link_bytes_per_s = 32e9;
  job.cluster.host = {.memory_bytes = kHosts[seed % kHosts.size()],
                      .memory_bandwidth_bytes_per_s = 200e9};
  job.space.offload = {
      .optimizer = {0, 0.5, 1},
      .activations = {{},
                      {plan::OffloadModule::kQkv, plan::OffloadModule::kCoreAttention,
                       plan::OffloadModule::kLayerInput}}};
  return job;
}

TEST(Search, FindsTheBestThatTheHostsHaveRoomFor) {
  std::uint64_t bound = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const Prepared prepared(with_small_hosts(seed));
    const std::vector<PlanCandidate> all = prepared.search(true, 10).kept.list();
    expect_same(prepared.search(false, 10).kept.list(), all);
    std::set<plan::Plan> plans;
    for (const PlanCandidate& candidate : all) {
      EXPECT_LE(candidate.price.host_bytes, prepared.job.cluster.host.memory_bytes);
      const plan::HostOffload& there = candidate.plan.offload;
      EXPECT_EQ(plan::canonical_plan(candidate.plan, prepared.job).offload.activations,
                there.activations);
      EXPECT_TRUE(plans.insert(candidate.plan).second) << plan::shown(candidate.plan);
    }
    plan::Job roomy = prepared.job;
    roomy.cluster.host.memory_bytes = 1e15;
    const std::vector<PlanCandidate> free = Prepared(roomy).search(false, 1).kept.list();
    if (!free.empty() && (all.empty() || free.front().plan != all.front().plan)) ++bound;
  }
  EXPECT_GE(bound, 3U) << "hosts with more room have another best plan";
}

TEST(Search, FindsWhatLacksLeastWhereHostsAreTooSmall) {
  std::uint64_t on_hosts = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    plan::Job job = with_small_hosts(seed);
    job.space.offload.activations.erase(job.space.offload.activations.begin());
    const Prepared prepared(std::move(job));
    SearchGoal least{.room = prepared.room(), .keep = 1, .least_memory = true};
    // Hosts with no more memory than the law allows plans to use.
    least.room.host_bytes /= 100;
    SearchGoal visit_all = least;
    visit_all.exhaustive = true;
    const auto search = [&](const SearchGoal& goal) {
      return PlanSearch(prepared.job, prepared.cost, prepared.enumeration)
          .search_space_for_goal(goal, {})
          .kept;
    };
    const BestPlanCandidates all = search(visit_all);
    const BestPlanCandidates bounded = search(least);
    expect_same(bounded.list(), all.list());
    if (all.list().empty()) continue;  // No plan is legal.
    const PlanCandidate& first = all.list().front();
    EXPECT_GE(first.key, first.price.memory_bytes);
    on_hosts += first.key > first.price.memory_bytes ? 1 : 0;
  }
  EXPECT_GE(on_hosts, 3U);
}

TEST(Search, FindsThePlanThatNeedsLeastMemory) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Prepared prepared(small_random_job(seed));
    const SearchGoal least{.keep = 1, .least_memory = true};
    SearchGoal visit_all = least;
    visit_all.exhaustive = true;
    const auto search = [&](const SearchGoal& goal) {
      return PlanSearch(prepared.job, prepared.cost, prepared.enumeration)
          .search_space_for_goal(goal, {});
    };
    const SearchFindings bounded = search(least);
    const SearchFindings all = search(visit_all);
    expect_same(bounded.kept.list(), all.kept.list());
    EXPECT_LE(bounded.priced, all.priced);
  }
}

TEST(Search, TellsHowFarItIs) {
  const Prepared prepared(small_tune_job());
  std::vector<TuneProgress> told;
  const SearchRunOptions running{
      .threads = 1, .progress = [&](const TuneProgress& state) { told.push_back(state); }};
  const SearchGoal goal{.room = prepared.room()};
  const SearchFindings found = PlanSearch(prepared.job, prepared.cost, prepared.enumeration)
                                   .search_space_for_goal(goal, running);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().priced, found.priced);
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_GE(told[i].done, told[i - 1].done);
}

TEST(Search, PricesAsThePricerDoes) {
  const Prepared prepared(small_tune_job());
  const SearchFindings found = prepared.search(false, 30);
  ASSERT_FALSE(found.kept.list().empty());
  for (const PlanCandidate& candidate : found.kept.list()) {
    simulate::PlanPricer pricer(prepared.job, prepared.cost);
    EXPECT_EQ(pricer.price(candidate.plan).seconds, candidate.price.seconds)
        << plan::shown(candidate.plan);
  }
}

}  // namespace
}  // namespace stepwright::tune
