#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/plan/job.h"

namespace stepwright::cli {

// All of them read the console's text of that name where there is one, else the file.

/// Reads a job for `tune`. Fails with `kInput`, saying what to do when the file is a plan.
/// With a framework the job is of that, whatever it names.
plan::Job load_job_file(const std::string& path, const Console& console,
                        const std::string& framework = "");

/// Reads a plan for all other commands. Fails with `kInput`, saying what to do when the file is a
/// job. Where the plan's job names no framework it is of `unsaid`.
plan::PlannedJob load_plan_file(const std::string& path, const Console& console,
                                const plan::Framework& unsaid = {});

/// Whether the file is a plan rather than a job. Fails with `kInput` when it cannot be read.
bool is_plan_file(const std::string& path, const Console& console);

/// The text of a file of whatever kind. Fails as `read_text_file`.
std::string file_text(const std::string& path, const Console& console);

/// Whether a file, of whatever kind, says that it is a plan. Fails with `kInput` when it cannot be
/// read.
bool holds_plan(const std::string& path, const Console& console);

/// The same of a job.
bool holds_job(const std::string& path, const Console& console);

/// The plan with its schedule settled where that is `auto` without an order. Fails with `kInput`
/// when it is not legal, naming the rule.
plan::PlannedJob settled_plan(plan::PlannedJob planned, const std::string& path);

/// Reads a plan that nothing is changed in, and settles it.
plan::PlannedJob load_settled_plan(const std::string& path, const Console& console,
                                   const plan::Framework& unsaid = {});

}  // namespace stepwright::cli
