#include "stepwright/tune/training_run.h"

#include <nlohmann/json.hpp>

#include "stepwright/step/document_sizes.h"

namespace stepwright::tune {
namespace {

constexpr double kHour = 3600;

}  // namespace

TrainingRunCost training_run_cost(const plan::Job& job, double step_time_s,
                                  std::int64_t devices_idle, const TrainingLengthAndPrice& run) {
  const double hours = run.tokens / step::trained_data_tokens_per_step(job) * step_time_s / kHour;
  TrainingRunCost cost{
      .days = hours / 24,
      .gpu_hours = hours * static_cast<double>(job.cluster.devices() + devices_idle),
      .cost = std::nullopt};
  if (run.price_per_gpu_hour) cost.cost = cost.gpu_hours * *run.price_per_gpu_hour;
  return cost;
}

void add_training_run_cost_json(nlohmann::ordered_json& answer, const plan::Job& job,
                                std::int64_t devices_idle, const TrainingLengthAndPrice& run) {
  const TrainingRunCost cost =
      training_run_cost(job, answer.at("step_time_s").get<double>(), devices_idle, run);
  answer["days"] = cost.days;
  answer["gpu_hours"] = cost.gpu_hours;
  if (cost.cost) answer["cost"] = *cost.cost;
}

}  // namespace stepwright::tune
