#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::framework_files {

/// A file that starts a job, or the part of it that a framework reads.
struct LaunchFile {
  std::string text;
  plan::PlannedJob started;  ///< Plan that the file starts, with the framework's kernels.
  /// Assumptions, and parts of the plan that the file does not say, for people.
  std::vector<std::string> notes;
  /// True if the file was read back and gave `started`, at the price that it has with the job's
  /// updates.
  bool as_it_is = false;
};

/// The words of the targets that are written, or read.
std::vector<std::string> export_words();
std::vector<std::string> import_words();

/// The framework that a target writes for, in a release; without a name for a launcher of any.
plan::Framework target_framework(std::string_view target, const std::string& release);

/// The framework for which a target writes a job: the job's where it is the target's, else the
/// target's in its newest release.
plan::Framework framework_of_target(std::string_view target, const plan::Job& job);

/// Writes the file of a target. `release` is of its framework; empty: the job's, else the newest.
/// What reading the file back would change is a note where it is overlap, buckets or collectives.
/// Fails with `kUnsupported` where the framework does not run the plan, or the file cannot say it,
/// naming each property and the nearest plan that it runs; with `nearest` that plan is written
/// instead, and a note says so. `where` is the plan's file, which opens the messages; an error has
/// its own place, else that file.
LaunchFile export_plan(std::string_view target, plan::PlannedJob planned,
                       const std::string& release, bool nearest = false,
                       std::string_view where = "plan");

/// A plan made of files, and what became of each of their settings.
struct ImportedPlan {
  std::string target;  ///< Whose files they are.
  plan::PlannedJob planned;
  ImportReport report;
  /// Why it would not start; the plan is then as files say it.
  std::optional<plan::Rejected> refused;
};

/// The plan that files of a target describe; without a target their content says whose they are.
/// Fails with `kInput` and `kUnsupported` as the readers of `Draft` say. With `as_it_is` a plan
/// that is not legal is no failure, but `refused`.
ImportedPlan import_sources(std::string_view target, Sources files, const Given& given,
                            bool as_it_is = false);

/// Returns why a framework does not run a plan, but for its kernel of attention, of which each
/// framework has its own; empty: it runs the plan, or the framework has no name.
std::vector<std::string> not_run_reasons(const plan::Framework& framework,
                                         const plan::PlannedJob& planned);

/// Reads a text file of at most 1 MiB, or a log of at most 64 MiB that states the arguments of a
/// run (megatron/stated.h). Fails with `kInput` when it is missing, larger or no UTF-8.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace stepwright::framework_files
