#pragma once

#include <string>

#include "stepwright/answers/given_file.h"
#include "stepwright/cli/command.h"

namespace stepwright::cli {

using answers::with_resolved_schedule;

/// Returns the file at a path, or the console's text with that name if there is one.
answers::UserFile user_file(const std::string& path, const Console& console);

/// Reads a job (or plan) through `user_file`, with the checks of the function of the same purpose
/// in `answers`.
plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework = "");
plan::PlannedJob load_plan_file(const std::string& path, const Console& console);
plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::Framework& unsaid = {});
bool is_plan_file(const std::string& path, const Console& console);

}  // namespace stepwright::cli
