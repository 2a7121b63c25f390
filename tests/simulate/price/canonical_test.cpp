// A group of one rank sends nothing, so a plan with such a group is priced, accounted, counted and
// simulated like its canonical form.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/program.h"
#include "tests/plan/random_plans.h"
#include "tests/plan/shown.h"

namespace stepwright::simulate {
namespace {

constexpr int kPlans = 400;

/// Counts the calls of each stage's ranks by kind, group size and elements, whatever the names of
/// the groups.
std::map<std::tuple<std::int64_t, step::OperatorKind, std::int64_t, std::int64_t>, std::int64_t>
read_logged_message_times(const step::StepProgram& program) {
  std::map<std::tuple<std::int64_t, step::OperatorKind, std::int64_t, std::int64_t>, std::int64_t>
      calls;
  for (const step::PipelineStageProgram& stage : program.stages) {
    for (const step::PipelineScheduleSlot& slot : stage.schedule) {
      for (const step::TemplateSequenceItem& item :
           stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
        for (const step::Operator& op :
             program.templates[static_cast<std::size_t>(item.which)].operators) {
          if (!step::is_communication(op.kind)) continue;
          const std::int64_t ranks = program.group_sizes[static_cast<std::size_t>(op.group)];
          calls[{stage.position, op.kind, ranks, op.payload_elements}] += op.repeats;
        }
      }
    }
  }
  return calls;
}

/// A plan, and the plan that results if only its sharding is made canonical.
struct Pair {
  plan::Job job;
  plan::Plan given;
  plan::Plan settled;
};

/// Returns a random legal plan of a sharding strategy with groups, each of `ranks` ranks or of all
/// ranks.
Pair random_pair(plan::Dice& dice, bool of_all) {
  while (true) {
    Pair pair{.job = plan::random_good_job(dice), .given = {}, .settled = {}};
    pair.job.kernels.scattered_gradients = !dice.chance(3);
    pair.job.kernels.refresh_by_tensor = dice.chance(3);
    pair.job.kernels.masters =
        plan::kMasterWeightsNames[dice.below(std::size(plan::kMasterWeightsNames))].value;
    pair.given = plan::random_legal_plan(dice, pair.job);
    plan::Sharding& sharding = pair.given.sharding;
    sharding = dice.pick(plan::paro_strategies());
    if (!sharding.uses(plan::StateShardingScope::kInner)) continue;
    const plan::ParallelismDegrees& sizes = pair.given.parallel;
    sharding.group = of_all ? sizes.data * sizes.context : 1;
    sharding.expert_group = of_all && pair.job.model.experts ? sizes.expert_data_degree() : 1;
    if (plan::first_broken_rule(pair.job, pair.given)) continue;
    pair.settled = pair.given;
    pair.settled.sharding = plan::canonical_plan(pair.given, pair.job).sharding;
    if (!plan::first_broken_rule(pair.job, pair.settled)) return pair;
  }
}

void expect_same(const Pair& pair) {
  const auto& [job, given, settled] = pair;
  SCOPED_TRACE(plan::shown(given) + " -> " + plan::shown(settled));
  const step::StepProgram before = step::build_step_program(job, given);
  const step::StepProgram after = step::build_step_program(job, settled);
  EXPECT_EQ(read_logged_message_times(before), read_logged_message_times(after));
  EXPECT_EQ(memory::memory_report(job, before).peak_bytes,
            memory::memory_report(job, after).peak_bytes);
  const cost::CostModel cost(job);
  const auto played = [&](const step::StepProgram& program, const plan::Plan& plan) {
    return simulate_step_program(
               program, cost, cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan)),
               plan)
        .step_time_s;
  };
  const double step_s = played(after, settled);
  EXPECT_NEAR(played(before, given), step_s, 1e-12 * step_s);
  PlanPricer pricer(job, cost);
  const PlanPrice price = pricer.price(given);
  const PlanPrice same = pricer.price(settled);
  EXPECT_NEAR(price.seconds, same.seconds, 1e-12 * same.seconds);
  EXPECT_NEAR(price.lower_bound_s, same.lower_bound_s, 1e-12 * same.seconds);
  EXPECT_NEAR(price.upper_bound_s, same.upper_bound_s, 1e-12 * same.upper_bound_s);
  EXPECT_NEAR(price.memory_bytes, same.memory_bytes, 1e-9 * same.memory_bytes);
}

TEST(CanonicalSharding, AGroupOfOneRankHasTheMessagesAndThePriceOfNone) {
  plan::Dice dice(41);
  for (int i = 0; i < kPlans; ++i) expect_same(random_pair(dice, false));
}

TEST(CanonicalSharding, AGroupOfAllRanksHasTheMessagesAndThePriceOfGlobal) {
  plan::Dice dice(42);
  for (int i = 0; i < kPlans; ++i) expect_same(random_pair(dice, true));
}

}  // namespace
}  // namespace stepwright::simulate
