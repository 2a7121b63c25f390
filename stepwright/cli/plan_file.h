#pragma once

#include <string>

#include "stepwright/answers/given_file.h"
#include "stepwright/cli/command.h"

namespace stepwright::cli {

using answers::with_resolved_schedule;

/// Returns the file at a path. If the console has a text with that name, returns this text instead.
answers::UserFile read_file_or_console_text(const std::string& path, const Console& console);

/// Reads a job from a file, or from a text of the console with that name, with the checks of
/// `answers::read_job`; the functions below do the same for plans.
plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework = "");
plan::PlannedJob load_plan_file(const std::string& path, const Console& console);
plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::TrainingFramework& unsaid = {});
bool is_plan_file(const std::string& path, const Console& console);

}  // namespace stepwright::cli
