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

/// A file written for a plan: a script or configuration with which a framework trains the plan.
struct LaunchFile {
  std::string text;
  /// Plan that the file starts, with the framework's own kernels; it can differ from the requested
  /// plan.
  plan::PlannedJob started;
  /// Sentences for the user: assumptions, and properties of the plan that the file cannot express.
  std::vector<std::string> notes;
  /// True if reading the file back gave the same plan as `started`, with the same predicted step
  /// time.
  bool as_it_is = false;
};

/// Returns the names that `export --to` accepts: frameworks and launchers whose files can be
/// written. `import_target_names` returns those that `import --from` accepts.
std::vector<std::string> export_target_names();
std::vector<std::string> import_target_names();

/// Returns the framework, in this release, for which a target of `export --to` writes files; a
/// framework without name for a launcher of any program (torchrun, Slurm).
plan::TrainingFramework framework_of_export_target(std::string_view target,
                                                   const std::string& release);

/// Returns the framework for which a target of `export --to` writes a job's file: the job's
/// framework if the target supports it, else the target's own in its newest release.
plan::TrainingFramework framework_for_exported_job(std::string_view target, const plan::Job& job);

/// Writes a plan's file for a target of `export --to` (framework or launcher). If framework or file
/// cannot express the plan, fails with `kUnsupported`, or, with `nearest`, writes the nearest plan
/// that they can express. `release`: the framework's release; empty: the job's, else the newest.
/// `where`: the plan's name in messages.
LaunchFile export_plan(std::string_view target, plan::PlannedJob planned,
                       const std::string& release, bool nearest = false,
                       std::string_view where = "plan");

/// A plan that was read from a framework's files, with a report of what happened to each setting.
struct ImportedPlan {
  std::string target;  ///< Name of the framework whose files were read, as `--from` has it.
  plan::PlannedJob planned;
  ImportReport report;
  /// Why the plan would not start, in which case it is unchanged from the files; nullopt: it would
  /// start.
  std::optional<plan::PlanRejection> refused;
};

/// Reads the plan that a framework's files describe. `target`: the framework's name as `--from` has
/// it; empty: recognised by content. `as_it_is`: a plan that would not start is returned with
/// `refused` set. Fails with `kInput` or `kUnsupported` for files that cannot be read as a plan.
ImportedPlan import_plan_files(std::string_view target, Sources files, const UserFacts& given,
                               bool as_it_is = false);

/// Returns the reasons why a framework does not run a plan, except its attention kernel, which
/// export can change. Empty if the framework runs the plan or has no name.
std::vector<std::string> framework_refusal_reasons(const plan::TrainingFramework& framework,
                                                   const plan::PlannedJob& planned);

/// Returns the text of a file of at most 1 MiB, or of a log of at most 64 MiB in which a framework
/// printed its arguments. Fails with `kInput` if the file is missing, larger or not UTF-8.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace stepwright::framework_files
