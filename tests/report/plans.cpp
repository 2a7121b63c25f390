#include "tests/report/plans.h"

#include "stepwright/plan/files.h"

namespace stepwright::testing {

namespace {

PlannedJob large_plan() {
  return with_field(load_plan("examples/llama-3-70b.plan.yaml"), "batch.sequences=32");
}

}  // namespace

Prediction large_prediction() { return predict(large_plan(), true); }

Prediction offloaded_prediction() {
  return predict(with_field(large_plan(), "offload.optimizer=1"), true);
}

Prediction small_prediction() { return predict(load_plan("examples/tiny-llama.plan.yaml"), true); }

}  // namespace stepwright::testing
