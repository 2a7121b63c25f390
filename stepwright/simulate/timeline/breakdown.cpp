#include "stepwright/simulate/timeline/breakdown.h"

#include <algorithm>

namespace stepwright::simulate {
namespace {

constexpr double kTied = 1e-9;  ///< Relative difference below which two times count as equal.

double exposed_s(const StageTimeAccount& account, step::ParallelismScheme scheme) {
  return account.exposed_s[static_cast<int>(scheme)];
}

StageTimeBreakdown breakdown(const StageTimeAccount& account, double wait_s) {
  return {.compute_s = account.compute_s,
          .bubble_s = account.bubble_s + wait_s,
          .optimizer_s = account.optimizer_s,
          .tensor_s = exposed_s(account, step::ParallelismScheme::kTensor),
          .context_s = exposed_s(account, step::ParallelismScheme::kContext),
          .expert_s = exposed_s(account, step::ParallelismScheme::kExpert),
          .pipeline_s = exposed_s(account, step::ParallelismScheme::kPipeline),
          .data_s = exposed_s(account, step::ParallelismScheme::kData) +
                    exposed_s(account, step::ParallelismScheme::kControl),
          .host_s = exposed_s(account, step::ParallelismScheme::kNone)};
}

/// Returns the stage that waits least for other stages, the first of equal ones. Whether it ends
/// last does not matter: the stage that does may only drain what a slower one held up.
std::int32_t critical_stage(const Simulation& result) {
  std::size_t critical = 0;
  for (std::size_t s = 1; s < result.stages.size(); ++s) {
    const double less_s =
        result.stages[critical].breakdown.bubble_s - result.stages[s].breakdown.bubble_s;
    if (less_s > result.step_time_s * kTied) critical = s;
  }
  return static_cast<std::int32_t>(critical);
}

}  // namespace

Simulation simulation_from_stage_time_accounts(std::span<const StageTimeAccount> accounts,
                                               std::span<const double> ends_s) {
  Simulation result;
  for (const double end_s : ends_s) result.step_time_s = std::max(result.step_time_s, end_s);
  for (std::size_t s = 0; s < accounts.size(); ++s) {
    const StageTimeAccount& account = accounts[s];
    result.stages.push_back({.breakdown = breakdown(account, result.step_time_s - ends_s[s]),
                             .end_s = ends_s[s],
                             .compute_busy_s = account.compute_busy_s,
                             .communication_busy_s = account.communication_busy_s});
  }
  result.critical_stage = critical_stage(result);
  return result;
}

void add_uneven_micro_batch_waits(Simulation& simulation, double waits_s) {
  simulation.step_time_s += waits_s;
  for (StageTimes& stage : simulation.stages) stage.breakdown.bubble_s += waits_s;
}

}  // namespace stepwright::simulate
