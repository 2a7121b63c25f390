#include "tests/report/plans.h"

#include "stepwright/plan/files.h"

namespace stepwright::testing {

namespace {

plan::PlannedJob large_plan() {
  return plan::plan_with_field(plan::load_plan("examples/llama-3-70b.plan.yaml"),
                               "batch.sequences=32");
}

}  // namespace

simulate::PlanPrediction large_prediction() { return simulate::predict_plan(large_plan(), true); }

simulate::PlanPrediction offloaded_prediction() {
  return simulate::predict_plan(plan::plan_with_field(large_plan(), "offload.optimizer=1"), true);
}

simulate::PlanPrediction small_prediction() {
  return simulate::predict_plan(plan::load_plan("examples/tiny-llama.plan.yaml"), true);
}

}  // namespace stepwright::testing
