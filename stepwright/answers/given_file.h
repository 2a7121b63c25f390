#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// A file that a person gives: its path, or a text in memory that stands for it.
struct GivenFile {
  std::string name;                 ///< Path of the file; of a text its name in messages.
  std::optional<std::string> text;  ///< nullopt: read the file.
  std::filesystem::path folder;     ///< Folder in which relative paths in `text` start.
};

/// Returns the text of a file of any kind. Fails as `read_text_file`.
std::string text_of(const GivenFile& file);

/// Reads a job for `tune`. `framework` replaces the one that the job names; empty: the job's.
/// Fails with `kInput`, saying what to do when the file is a plan.
plan::Job read_job(const GivenFile& file, const std::string& framework = "");

/// Reads a plan. `unsaid` is its framework where the plan's job names none. Fails with `kInput`,
/// saying what to do when the file is a job.
plan::PlannedJob read_plan(const GivenFile& file, const plan::Framework& unsaid = {});

/// Returns the plan with its schedule settled where that is `auto` without an order. Fails with
/// `kInput` when it is not legal, naming the rule and the file.
plan::PlannedJob settled_plan(plan::PlannedJob planned, const std::string& file);

/// Reads a plan and settles it.
plan::PlannedJob read_settled_plan(const GivenFile& file, const plan::Framework& unsaid = {});

/// True if the document of the file is a plan rather than a job. Fails with `kInput` when it cannot
/// be read.
bool is_plan(const GivenFile& file);

/// True if a file of any kind says that it is a plan, or a job. Fails as `text_of`.
bool says_plan(const GivenFile& file);
bool says_job(const GivenFile& file);

}  // namespace stepwright::answers
