#include "stepwright/answers/phases_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/made_by.h"
#include "stepwright/core/error.h"

namespace stepwright::answers {
namespace {

constexpr std::size_t kPlansOfSplit = 5;

}  // namespace

StepPhasesAnswer predict_step_phases(plan::PlannedJob planned, const StepPhasesRequest& request) {
  request.reserve.replace_memory_margin_of_job(planned.job);
  return {.step = phases::predict_phased_step(planned), .splits = {}};
}

StepPhasesAnswer find_best_device_split(plan::Job job, const StepPhasesRequest& request) {
  request.reserve.replace_memory_margin_of_job(job);
  const tune::TuneOptions options{
      .threads = request.threads, .top = kPlansOfSplit, .progress = request.progress};
  try {
    phases::DevicePoolSplits splits = phases::best_device_splits(
        job, [&](const plan::Job& part) { return tune::tune(part, options); });
    phases::PhasedStep best = splits.steps.front();
    return {.step = std::move(best), .splits = std::move(splits)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    fail_input(fmt::format("{}: {}", request.name, error.what()), {.file = request.name});
  }
}

nlohmann::ordered_json step_phases_answer_json(const StepPhasesAnswer& answer) {
  nlohmann::ordered_json json = phases::phased_step_json(answer.step);
  json["made_by"] = producer_version_json();
  if (answer.splits) json["splits"] = phases::device_splits_json(*answer.splits);
  return json;
}

}  // namespace stepwright::answers
