#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/study/schedules.h"

namespace stepwright {

/// The options of `stepwright study schedules`.
class ScheduleOptions {
 public:
  void add_to(CLI::App& app);

  /// Fails with `kInput` when one of them was given: `what` has no use for it.
  void check_absent(const CLI::App& app, const std::string& what) const;

  /// Fails with `kInput` when one that has no default is missing.
  [[nodiscard]] UniformPipeline pipeline(const CLI::App& app) const;

 private:
  UniformPipeline pipeline_;
  double paired_s_ = 0;
};

}  // namespace stepwright
