#include "stepwright/cli/schedule_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "stepwright/core/error.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr const char* kGroup = "Times of schedules: seconds of a whole stage for one micro-batch";
constexpr const char* kPaired = "--paired";
constexpr const char* kPipelineOptions[] = {
    "--stages", "--micro-batches", "--forward", "--backward", "--weight", "--chunks", kPaired};
constexpr std::size_t kNeeded = 5;  ///< The first five options have no default.

}  // namespace

void PipelineScheduleStudyOptions::add_options_to_command(CLI::App& app) {
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    return app.add_option(name, value, help)->type_name(type)->group(kGroup);
  };
  const auto count = [&](const char* name, std::int64_t& value, const char* help,
                         std::int64_t least, std::int64_t most) {
    add(name, value, help, "N")->check(runtime::whole_number_validator(least, most));
  };
  const auto time = [&](const char* name, double& seconds, const char* help, bool above) {
    add(name, seconds, help, "SECONDS")
        ->check(runtime::number_range_validator(
            {.low = 0, .high = study::kLongestStage, .above = above}));
  };
  count("--stages", pipeline_.stages, "Pipeline stages", 1, study::kMostStages);
  count("--micro-batches", pipeline_.micro_batches, "Micro-batches of a step", 1,
        study::kMaxStudiedScheduleItems);
  count("--chunks", pipeline_.chunks, "Chunks of a stage for schedules with several; default 2", 2,
        study::kMaxStudiedScheduleItems);
  time("--forward", pipeline_.forward_s, "Forward", true);
  time("--backward", pipeline_.backward_s, "Backward, both gradients", true);
  time("--weight", pipeline_.weight_s, "Seconds of the weight gradients, a part of the backward",
       false);
  time(kPaired, paired_s_,
       "Seconds of a forward and a backward that run together; default their sum", false);
}

std::span<const char* const> PipelineScheduleStudyOptions::schedules_study_option_names() {
  return kPipelineOptions;
}

schedule::UniformPipeline PipelineScheduleStudyOptions::pipeline_from_options(
    const CLI::App& app) const {
  for (const char* name : schedules_study_option_names().first(kNeeded)) {
    if (app.count(name) == 0) fail_input(fmt::format("study schedules needs {}", name));
  }
  schedule::UniformPipeline pipeline = pipeline_;
  if (app.count(kPaired) > 0) pipeline.paired_s = paired_s_;
  return pipeline;
}

}  // namespace stepwright::cli
