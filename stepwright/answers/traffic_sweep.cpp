#include "stepwright/answers/traffic_sweep.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/sweep.h"

namespace stepwright::answers {
namespace {

double sent_bytes_of(const TrafficSweepPoint& point) {
  double sum = 0;
  for (const auto& [scheme, volume] : point.schemes) sum += volume.sent_bytes;
  return sum;
}

TrafficSweepPoint traffic_point(const plan::PlannedJob& planned, std::string value) {
  TrafficSweepPoint point{.value = std::move(value)};
  if (const auto refused = plan::find_plan_rejection(planned.job, planned.plan)) {
    point.refused = refused->message;
    return point;
  }
  const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
  const plan::RankGrid grid(planned.plan);
  point.schemes = traffic::traffic_totals_by_scheme(traffic::count_traffic_of_step(
      prediction.program, std::nullopt, grid, {&planned.job.cluster, planned.plan.collectives}));
  point.step_time_s = prediction.simulation.step_time_s;
  point.tokens_per_s =
      prediction.tokens_per_s_per_device * static_cast<double>(planned.job.cluster.devices());
  return point;
}

}  // namespace

double sent_bytes_per_step_token(const TrafficSweepPoint& point) {
  return sent_bytes_of(point) / (point.tokens_per_s * point.step_time_s);
}

TrafficSweep evaluate_traffic_sweep(const plan::PlannedJob& planned, const std::string& text) {
  const tune::SweptField swept = tune::read_swept_field(text, "batch.length=2048,4096");
  TrafficSweep sweep{.field = swept.field};
  for (const std::string& value : swept.values) {
    const plan::PlannedJob changed =
        plan::plan_with_field(planned, sweep.field + "=" + value, "--sweep");
    sweep.points.push_back(traffic_point(changed, value));
  }
  return sweep;
}

nlohmann::ordered_json traffic_sweep_json(const TrafficSweep& sweep) {
  auto list = nlohmann::ordered_json::array();
  for (const TrafficSweepPoint& point : sweep.points) {
    nlohmann::ordered_json entry{{"value", point.value}};
    if (!point.refused.empty()) {
      entry["refused"] = point.refused;
      list.push_back(std::move(entry));
      continue;
    }
    for (const auto& [scheme, volume] : point.schemes) {
      entry["by_scheme"][std::string(name_of(step::kSchemeNames, scheme))] = {
          {"calls", volume.count},
          {"payload_bytes", volume.payload_bytes},
          {"sent_bytes", volume.sent_bytes}};
    }
    entry["sent_bytes_per_token"] = sent_bytes_per_step_token(point);
    entry["step_time_s"] = point.step_time_s;
    entry["tokens_per_s"] = point.tokens_per_s;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace stepwright::answers
