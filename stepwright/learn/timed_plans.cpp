#include "stepwright/learn/timed_plans.h"

#include <cmath>

#include "stepwright/core/parallel.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/grid.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::learn {
namespace {

/// Steps of a logarithm for the derivative: rates of devices move little, host times of frameworks
/// much.
constexpr double kDeviceStep = 0.05;
constexpr double kFrameworkStep = 0.2;

/// Returns the step by which constant `index` is moved; backwards if it would pass its upper limit.
double moved_by(const LearnableConstants& learnable, Eigen::Index index, double around) {
  const double step = learnable.of_device(index) ? kDeviceStep : kFrameworkStep;
  return around + step > learnable.prior().most[index] ? -step : step;
}

}  // namespace

double simulated_step_s(const plan::PlannedJob& planned,
                        const cost::TrainingConditions& conditions) {
  const cost::CostModel cost(planned.job, conditions);
  const step::StepProgram program = step::build_step_program(planned.job, planned.plan);
  const auto layouts =
      cost::rank_group_network_layouts(planned.job.cluster, plan::RankGrid(planned.plan));
  return simulate::simulate_step_program(program, cost, layouts, planned.plan).step_time_s;
}

LinearizedStepTimes linearize_step_times(std::span<const plan::PlannedJob> plans,
                                         const LearnableConstants& learnable,
                                         const Eigen::VectorXd& around, int threads) {
  const Eigen::Index rows = std::ssize(plans);
  LinearizedStepTimes times{.around = around,
                            .seconds = Eigen::VectorXd::Zero(rows),
                            .slopes = Eigen::MatrixXd::Zero(rows, learnable.size())};
  const cost::TrainingConditions base = learnable.at(around, "base");
  parallel_for(threads, plans.size(), [&](std::size_t i) {
    const auto row = static_cast<Eigen::Index>(i);
    times.seconds[row] = std::log(simulated_step_s(plans[i], base));
    for (Eigen::Index k = 0; k < learnable.size(); ++k) {
      if (!learnable.depends_on_constant(k, plans[i].job)) continue;
      const double step = moved_by(learnable, k, around[k]);
      Eigen::VectorXd moved = around;
      moved[k] += step;
      const double seconds = simulated_step_s(plans[i], learnable.at(moved, "moved"));
      times.slopes(row, k) = (std::log(seconds) - times.seconds[row]) / step;
    }
  });
  return times;
}

}  // namespace stepwright::learn
