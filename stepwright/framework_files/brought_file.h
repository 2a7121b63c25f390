#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {

/// The kind of a text that a user passes in about a job.
enum class UserFileKind : std::uint8_t {
  kPlan,
  kJob,      ///< A model, its batch and its cluster, without a plan.
  kModel,    ///< A Hugging Face `config.json`, or a model as the `model:` field of a job has it.
  kCluster,  ///< A cluster profile: devices and network.
  kRecord,   ///< A record that `stepwright capture` wrote.
  kLaunch,   ///< A script, a configuration or a recipe that starts a job.
  kOther,    ///< A text of none of these kinds.
};
inline constexpr Named<UserFileKind> kUserFileKindNames[] = {
    {UserFileKind::kPlan, "plan"},      {UserFileKind::kJob, "job"},
    {UserFileKind::kModel, "model"},    {UserFileKind::kCluster, "cluster"},
    {UserFileKind::kRecord, "record"},  {UserFileKind::kLaunch, "launch"},
    {UserFileKind::kOther, "something"}};

/// True if a text is a JSON document, and not a Python dictionary as logs print it.
bool is_json_document(std::string_view text);

/// Returns the kind of a text. A text that is cut off, such as the beginning of a long file, is
/// judged by its first line and its form. A YAML or TOML configuration must have a file name of
/// that kind or contain a framework's mark, because a few lines of a log can be valid YAML, too.
UserFileKind user_file_kind(const launch_scripts::SourceFile& file);

/// True if a text contains a mark by which the files of some framework are recognised.
bool has_framework_mark(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
