#pragma once

#include <span>
#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/study/schedules.h"

namespace stepwright::cli {

/// Options of `stepwright study schedules`, which compares pipeline schedules.
class PipelineScheduleStudyOptions {
 public:
  void add_options_to_command(CLI::App& app);

  /// Returns the names of the options of `study schedules`, so that other studies can refuse them.
  [[nodiscard]] static std::span<const char* const> schedules_study_option_names();

  /// Returns the pipeline (stages, micro-batches, times) that the options describe. Fails with
  /// `kInput` if an option without a default is missing.
  [[nodiscard]] schedule::UniformPipeline pipeline_from_options(const CLI::App& app) const;

 private:
  schedule::UniformPipeline pipeline_;
  double paired_s_ = 0;
};

}  // namespace stepwright::cli
