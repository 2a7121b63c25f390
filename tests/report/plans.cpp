#include "tests/report/plans.h"

#include "stepwright/plan/files.h"

namespace stepwright::testing {

Prediction large_prediction() {
  const PlannedJob planned = load_plan("examples/llama-3-70b.plan.yaml");
  return predict(with_field(planned, "batch.sequences=32"), true);
}

Prediction small_prediction() { return predict(load_plan("examples/tiny-llama.plan.yaml"), true); }

}  // namespace stepwright::testing
