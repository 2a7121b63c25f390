#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {

/// The kind of a file that a user passes to a command.
enum class UserFileKind : std::uint8_t {
  kPlan,
  kJob,  ///< A job: model, batch and cluster, without a parallelization plan.
  /// A model: a Hugging Face `config.json`, or sizes in the form of a job file's `model:`.
  kModel,
  kCluster,  ///< A cluster profile: devices and network.
  /// A launch record that `stepwright capture` wrote: the commands that a script would start.
  kRecord,
  kLaunch,  ///< A script, a configuration or a recipe that starts a job.
  kOther,   ///< A file of unknown kind.
};
inline constexpr Named<UserFileKind> kUserFileKindNames[] = {
    {UserFileKind::kPlan, "plan"},      {UserFileKind::kJob, "job"},
    {UserFileKind::kModel, "model"},    {UserFileKind::kCluster, "cluster"},
    {UserFileKind::kRecord, "record"},  {UserFileKind::kLaunch, "launch"},
    {UserFileKind::kOther, "something"}};

/// True if a text begins like a JSON object; false for a Python dictionary (`{'...`), as logs print
/// it.
bool is_json_document(std::string_view text);

/// Returns the kind of a file, judged by its content. A text that does not parse, such as the
/// beginning of a long file, is judged by its form. A YAML or TOML configuration must have such a
/// file name or a framework's typical keys, because a few lines of a log can be valid YAML, too.
UserFileKind user_file_kind(const launch_scripts::SourceFile& file);

/// True if a file contains text that is typical of the files of some supported framework.
bool looks_like_framework_file(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
