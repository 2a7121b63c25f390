// A group of one rank sends nothing, so that a plan with one is its canonical form to whoever
// prices, accounts, counts or plays it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/legality.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"
#include "tests/plan/random_plans.h"

namespace stepwright {
namespace {

constexpr int kPlans = 400;

/// Calls of the ranks of each stage by kind, ranks and elements, whatever the groups are called.
std::map<std::tuple<std::int64_t, OperatorKind, std::int64_t, std::int64_t>, std::int64_t>
messages_of(const StepProgram& program) {
  std::map<std::tuple<std::int64_t, OperatorKind, std::int64_t, std::int64_t>, std::int64_t> calls;
  for (const Stage& stage : program.stages) {
    for (const Slot& slot : stage.schedule) {
      for (const Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
        for (const Operator& op :
             program.templates[static_cast<std::size_t>(item.which)].operators) {
          if (!is_communication(op.kind)) continue;
          const std::int64_t ranks = program.group_sizes[static_cast<std::size_t>(op.group)];
          calls[{stage.position, op.kind, ranks, op.payload_elements}] += op.repeats;
        }
      }
    }
  }
  return calls;
}

/// A plan and what it comes to where only its sharding is settled.
struct Pair {
  Job job;
  Plan given;
  Plan settled;
};

/// A random legal plan of a strategy with groups, each of `ranks` ranks or of all.
Pair random_pair(Dice& dice, bool of_all) {
  while (true) {
    Pair pair{.job = random_good_job(dice), .given = {}, .settled = {}};
    pair.job.kernels.scattered_gradients = !dice.chance(3);
    pair.job.kernels.refresh_by_tensor = dice.chance(3);
    pair.job.kernels.masters = kMasterNames[dice.below(std::size(kMasterNames))].value;
    pair.given = random_legal_plan(dice, pair.job);
    Sharding& sharding = pair.given.sharding;
    sharding = dice.pick(paro_strategies());
    if (!sharding.uses(Spread::kInner)) continue;
    const Parallel& sizes = pair.given.parallel;
    sharding.group = of_all ? sizes.data * sizes.context : 1;
    sharding.expert_group = of_all && pair.job.model.experts ? sizes.expert_data() : 1;
    if (broken_rule(pair.job, pair.given)) continue;
    pair.settled = pair.given;
    pair.settled.sharding = canonical(pair.given, pair.job).sharding;
    if (!broken_rule(pair.job, pair.settled)) return pair;
  }
}

void expect_same(const Pair& pair) {
  const auto& [job, given, settled] = pair;
  SCOPED_TRACE(plan_text(given) + " -> " + plan_text(settled));
  const StepProgram before = build_program(job, given);
  const StepProgram after = build_program(job, settled);
  EXPECT_EQ(messages_of(before), messages_of(after));
  EXPECT_EQ(memory_report(job, before).peak_bytes, memory_report(job, after).peak_bytes);
  const CostModel cost(job);
  const auto played = [&](const StepProgram& program, const Plan& plan) {
    return simulate(program, cost, group_layouts(job.cluster, Grid(plan)), plan).step_time_s;
  };
  const double step_s = played(after, settled);
  EXPECT_NEAR(played(before, given), step_s, 1e-12 * step_s);
  Pricer pricer(job, cost);
  const Price price = pricer.price(given);
  const Price same = pricer.price(settled);
  EXPECT_NEAR(price.seconds, same.seconds, 1e-12 * same.seconds);
  EXPECT_NEAR(price.lower_bound_s, same.lower_bound_s, 1e-12 * same.seconds);
  EXPECT_NEAR(price.upper_bound_s, same.upper_bound_s, 1e-12 * same.upper_bound_s);
  EXPECT_NEAR(price.memory_bytes, same.memory_bytes, 1e-9 * same.memory_bytes);
}

TEST(CanonicalSharding, AGroupOfOneRankHasTheMessagesAndThePriceOfNone) {
  Dice dice(41);
  for (int i = 0; i < kPlans; ++i) expect_same(random_pair(dice, false));
}

TEST(CanonicalSharding, AGroupOfAllRanksHasTheMessagesAndThePriceOfGlobal) {
  Dice dice(42);
  for (int i = 0; i < kPlans; ++i) expect_same(random_pair(dice, true));
}

}  // namespace
}  // namespace stepwright
