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

/// A written file that starts a job, or the part of it that a framework reads.
struct LaunchFile {
  std::string text;
  plan::PlannedJob started;  ///< Plan that the file starts; its kernels are those of the framework.
  /// Assumptions, and properties of the plan that the file cannot express; sentences for people.
  std::vector<std::string> notes;
  /// True if reading the file back gave exactly `started`, with the same predicted step time.
  bool as_it_is = false;
};

/// Return the `--to` words of the targets that can be written, and the `--from` words of those that
/// can be read.
std::vector<std::string> export_words();
std::vector<std::string> import_words();

/// Returns the framework that a target writes for, in a release; for a launcher of any program, a
/// framework without a name.
plan::Framework target_framework(std::string_view target, const std::string& release);

/// Returns the framework for which a target writes a job: the job's own if the target writes for
/// it, else the target's framework in its newest release.
plan::Framework framework_of_target(std::string_view target, const plan::Job& job);

/// Writes the file of a target. `release` is a release of its framework; empty: the job's, else the
/// newest. If reading the file back changes overlap, buckets or collective algorithms, a note says
/// so.
/// Fails with `kUnsupported` if the framework does not run the plan or the file cannot express it;
/// the message names each property and the nearest plan that works. With `nearest` that plan is
/// written instead, with a note. `where` is the plan's file, with which messages begin unless an
/// error has a position of its own.
LaunchFile export_plan(std::string_view target, plan::PlannedJob planned,
                       const std::string& release, bool nearest = false,
                       std::string_view where = "plan");

/// A plan that was read from files, and what happened to each setting in them.
struct ImportedPlan {
  std::string target;  ///< Word of the target whose files were read.
  plan::PlannedJob planned;
  ImportReport report;
  /// Why the plan would not start (the plan is then as the files state it); nullopt: it is legal.
  std::optional<plan::PlanRejection> refused;
};

/// Reads the plan that files of a target describe; if `target` is empty, the files' content decides
/// whose they are. Fails with `kInput` and `kUnsupported` like the readers of `Draft`. With
/// `as_it_is` an illegal plan is returned with `refused` set.
ImportedPlan import_sources(std::string_view target, Sources files, const UserFacts& given,
                            bool as_it_is = false);

/// Returns why a framework does not run a plan, apart from the attention kernel, of which each
/// framework has its own. Empty if it runs the plan, or if the framework has no name.
std::vector<std::string> not_run_reasons(const plan::Framework& framework,
                                         const plan::PlannedJob& planned);

/// Reads a text file of at most 1 MiB, or a log of at most 64 MiB that states the arguments of a
/// run (megatron/stated.h). Fails with `kInput` if it is missing, larger or not UTF-8.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace stepwright::framework_files
