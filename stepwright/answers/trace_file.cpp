#include "stepwright/answers/trace_file.h"

#include <fmt/format.h>

#include "stepwright/simulate/timeline/trace.h"

namespace stepwright::answers {
namespace {

/// Returns the ranks of each stage; empty if they are consecutive, which the writer prints itself.
std::vector<std::string> stage_ranks(const plan::RankGrid& grid, std::int64_t stages) {
  const std::int64_t each = grid.ranks() / stages;
  std::vector<std::string> names;
  if (grid.coordinates(each - 1).pipeline == 0) return names;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    names.push_back(
        fmt::format("rank {} and {} more", grid.rank_at_coordinates(0, 0, 0, stage), each - 1));
  }
  return names;
}

}  // namespace

void write_predicted_step_trace(const simulate::PlanPrediction& prediction, std::ostream& out) {
  const plan::Job& job = prediction.planned.job;
  const plan::Plan& plan = prediction.planned.plan;
  const plan::RankGrid grid(plan);
  const simulate::Prices prices = simulate::price_operators(
      prediction.program, cost::CostModel(job), cost::rank_group_network_layouts(job.cluster, grid),
      plan.collectives);
  const simulate::TraceOptions options{.ranks = stage_ranks(grid, plan.parallel.pipeline),
                                       .prices = &prices};
  simulate::write_chrome_trace(prediction.program, prediction.simulation, options, out);
}

}  // namespace stepwright::answers
