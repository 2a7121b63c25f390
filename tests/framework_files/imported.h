#pragma once

#include <gmock/gmock.h>

#include <string>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {

/// Returns the plan that a target reads from a text, on `given.cluster` or two nodes of dgx-h100.
inline ImportedPlan import_text(const std::string& target, const std::string& name,
                                const std::string& text, UserFacts given = {}) {
  if (given.cluster.empty()) given.cluster = "dgx-h100:2";
  const launch_scripts::SourceFile file{name, text};
  return import_plan_files(target, {&file, 1}, given);
}

/// Matches a report that lists a setting as not read, and whether it matters.
inline auto lists(const std::string& name, SettingImpact matters) {
  return testing::Contains(testing::AllOf(testing::Field(&SettingNotInPlan::name, name),
                                          testing::Field(&SettingNotInPlan::matters, matters)));
}

/// Matches a report in which a setting was used for a field.
inline auto takes(const std::string& name, const std::string& field) {
  return testing::Contains(testing::AllOf(testing::Field(&ImportedSetting::name, name),
                                          testing::Field(&ImportedSetting::field, field)));
}

}  // namespace stepwright::framework_files
