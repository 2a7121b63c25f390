#include "tests/report/plans.h"

#include "stepwright/plan/files.h"

namespace stepwright::testing {

namespace {

plan::PlannedJob large_plan() {
  return plan::plan_with_field(plan::load_plan("examples/llama-3-70b.plan.yaml"),
                               "batch.sequences=32");
}

}  // namespace

simulate::Prediction large_prediction() { return simulate::predict(large_plan(), true); }

simulate::Prediction offloaded_prediction() {
  return simulate::predict(plan::plan_with_field(large_plan(), "offload.optimizer=1"), true);
}

simulate::Prediction small_prediction() {
  return simulate::predict(plan::load_plan("examples/tiny-llama.plan.yaml"), true);
}

}  // namespace stepwright::testing
