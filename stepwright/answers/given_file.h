#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// A file that a user provides: its path, or a text in memory in its place.
struct UserFile {
  std::string name;  ///< Path of the file; for a text in memory, its name in messages.
  /// Text that replaces the file's content; nullopt: read the file.
  std::optional<std::string> text;
  std::filesystem::path folder;  ///< Folder to which relative paths inside `text` refer.
};

/// Returns the text of a file of any kind. Fails as `read_text_file`.
std::string text_of(const UserFile& file);

/// Reads a job for `tune`. `framework` replaces the framework that the job names; empty: no
/// replacement. Fails with `kInput`, saying what to do if the file is a plan.
plan::Job read_job(const UserFile& file, const std::string& framework = "");

/// Reads a plan. `unsaid`: the framework to assume if the plan's job names none. Fails with
/// `kInput`, saying what to do if the file is a job.
plan::PlannedJob read_plan(const UserFile& file, const plan::Framework& unsaid = {});

/// Returns the plan with a schedule chosen if it is `auto` without an order. Fails with `kInput` if
/// the plan is not legal, naming the rule and the file.
plan::PlannedJob with_resolved_schedule(plan::PlannedJob planned, const std::string& file);

/// Reads a plan and chooses its schedule if it is `auto` (`with_resolved_schedule`).
plan::PlannedJob read_resolved_plan(const UserFile& file, const plan::Framework& unsaid = {});

/// True if the document in the file is a plan, false if it is a job. Fails with `kInput` if it
/// cannot be read.
bool is_plan_document(const UserFile& file);

/// `declares_plan`, `says_job`: true if a file of any kind declares itself a plan (or a job). Fail
/// as `text_of`.
bool declares_plan(const UserFile& file);
bool says_job(const UserFile& file);

}  // namespace stepwright::answers
