#pragma once

#include <span>
#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/study/schedules.h"

namespace stepwright::cli {

/// The options of `stepwright study schedules`.
class ScheduleOptions {
 public:
  void add_to(CLI::App& app);

  /// The names of these options: other studies have no use for them.
  [[nodiscard]] static std::span<const char* const> names();

  /// Fails with `kInput` when one that has no default is missing.
  [[nodiscard]] schedule::UniformPipeline pipeline(const CLI::App& app) const;

 private:
  schedule::UniformPipeline pipeline_;
  double paired_s_ = 0;
};

}  // namespace stepwright::cli
