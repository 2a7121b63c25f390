#include "stepwright/simulate/losses.h"

#include <algorithm>
#include <array>

#include "stepwright/simulate/breakdown_terms.h"
#include "stepwright/simulate/timeline/compute_kind.h"

namespace stepwright::simulate {
namespace {

/// The keys of the terms of a breakdown in their order, without the first (compute).
constexpr std::array<const char*, kTimeBreakdownTermCount - 1> kTermKeys = {
    "bubble",         "optimizer",        "exposed_tensor", "exposed_context",
    "exposed_expert", "exposed_pipeline", "exposed_data",   "exposed_host"};

}  // namespace

double useful_computation_s(const PlanPrediction& prediction) {
  const auto stage = static_cast<std::size_t>(prediction.simulation.critical_stage);
  return useful_flops_of_stage(prediction.program, prediction.program.stages[stage]) /
         prediction.peak_flops;
}

std::vector<StepTimeLoss> step_time_losses(const PlanPrediction& prediction) {
  const Simulation& simulation = prediction.simulation;
  const StageTimeBreakdown& breakdown =
      simulation.stages[static_cast<std::size_t>(simulation.critical_stage)].breakdown;
  const auto once_s = [&](ComputationKind kind) {
    const auto i = static_cast<std::size_t>(kind);
    return breakdown.computation[i] - breakdown.recomputed[i];
  };
  const double memory_s = once_s(ComputationKind::kMemoryBound);
  const double routing_s = once_s(ComputationKind::kRouting);
  const double again_s = breakdown.recomputation_s();
  std::vector<StepTimeLoss> list = {
      {"below_peak", "matrix products and attention below the dense peak",
       breakdown.compute_s - again_s - memory_s - routing_s - useful_computation_s(prediction)},
      {"recomputation", "recomputation", again_s},
      {"memory_bound", "memory-bound kernels", memory_s},
      {"routing", "routing of tokens to experts", routing_s}};
  const auto terms = breakdown_terms(breakdown);
  for (std::size_t i = 1; i < kTimeBreakdownTermCount; ++i) {
    list.push_back({kTermKeys[i - 1], kTermNames[i], terms[i]});
  }
  std::erase_if(list, [](const StepTimeLoss& loss) { return loss.seconds == 0; });
  std::ranges::stable_sort(list, std::ranges::greater{}, &StepTimeLoss::seconds);
  return list;
}

}  // namespace stepwright::simulate
