#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Returns a training method that the target's files can express: pretraining if possible,
/// otherwise the first that they can.
inline plan::TrainingMethod method_of(std::string_view word) {
  const std::vector<plan::TrainingMethodKind>& kinds = launch_target_description(word).methods;
  plan::TrainingMethod method;
  if (std::ranges::count(kinds, plan::TrainingMethodKind::kPretrain) > 0) return method;
  method.kind = kinds.front();
  const bool generates = method.kind == plan::TrainingMethodKind::kGrpo ||
                         method.kind == plan::TrainingMethodKind::kPpo;
  if (generates) method.rollout = plan::RolloutSettings{};
  return method;
}

}  // namespace stepwright::framework_files
