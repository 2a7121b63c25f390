#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// An input file of a user: a path on disk, or a text in memory that takes the file's place.
struct UserFile {
  /// Path of the file; if `text` is set, the name by which messages call the text.
  std::string name;
  /// Text to use instead of the file on disk; nullopt: read the file.
  std::optional<std::string> text;
  /// Folder against which relative paths inside `text` are resolved.
  std::filesystem::path folder;
};

/// Returns the text of a file, from memory or from disk. Fails with `kInput` if the file cannot be
/// read.
std::string read_user_file_text(const UserFile& file);

/// Reads a job file (model, data and cluster, without a plan). `framework` replaces the framework
/// that the job names; empty: keep it. Fails with `kInput` if the file is a plan.
plan::Job read_job(const UserFile& file, const std::string& framework = "");

/// Reads a plan file. `unsaid`: the framework to assume if the plan's job names none. Fails with
/// `kInput` if the file is a job without a plan.
plan::PlannedJob read_plan(const UserFile& file, const plan::TrainingFramework& unsaid = {});

/// Returns the plan with a pipeline schedule chosen, if its schedule is `auto` and states no order.
/// `file`: name of the plan's file in messages. Fails with `kInput` if the plan is not legal,
/// naming the broken rule.
plan::PlannedJob with_resolved_schedule(plan::PlannedJob planned, const std::string& file);

/// Reads a plan file and chooses its pipeline schedule if that is `auto`.
plan::PlannedJob read_plan_with_resolved_schedule(const UserFile& file,
                                                  const plan::TrainingFramework& unsaid = {});

/// True if the file contains a plan, false if it contains a job without a plan. Fails with `kInput`
/// if it cannot be read.
bool file_contains_plan(const UserFile& file);

/// True if the text of a file, of any format, says that it is a plan; `declares_job`: that it is a
/// job. Both fail with `kInput` if the file cannot be read.
bool declares_plan(const UserFile& file);
bool declares_job(const UserFile& file);

}  // namespace stepwright::answers
