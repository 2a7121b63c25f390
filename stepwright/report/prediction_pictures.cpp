#include "stepwright/report/prediction_pictures.h"

#include <nlohmann/json.hpp>

#include "stepwright/cost/cost_model.h"
#include "stepwright/memory/memory_json.h"
#include "stepwright/report/memory_curves.h"
#include "stepwright/report/timeline.h"
#include "stepwright/report/traffic_squares.h"

namespace stepwright::report {

nlohmann::ordered_json prediction_charts_json(const simulate::PlanPrediction& prediction,
                                              const SearchAgain& search) {
  const simulate::PlanPrediction recorded = simulate::predict_plan(prediction.planned, true);
  return {{"prediction", simulate::prediction_json(prediction)},
          {"stated_error", cost::CostModel(prediction.planned.job).step_time_relative_error()},
          {"memory", memory::memory_json(prediction.memory)},
          {"memory_curves", memory_curves_json(recorded)},
          {"timeline", timeline_json(recorded)},
          {"traffic", traffic_matrix_json(recorded)},
          {"sensitivity", step_time_sensitivity_json(prediction, search)}};
}

}  // namespace stepwright::report
