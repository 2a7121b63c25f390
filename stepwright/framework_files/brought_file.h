#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/named.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {

/// The kind of a text that a person brings of a job.
enum class BroughtKind : std::uint8_t {
  kPlan,
  kJob,      ///< A model, its batch and its cluster, without a plan.
  kModel,    ///< A `config.json` of the hub, or a model as a job says it.
  kCluster,  ///< A profile of a cluster.
  kRecord,   ///< A record of `stepwright capture`.
  kLaunch,   ///< A script, a configuration or a recipe that starts a job.
  kOther,    ///< A text that is of none of these kinds, as far as it says.
};
inline constexpr Named<BroughtKind> kBroughtKindNames[] = {
    {BroughtKind::kPlan, "plan"},      {BroughtKind::kJob, "job"},
    {BroughtKind::kModel, "model"},    {BroughtKind::kCluster, "cluster"},
    {BroughtKind::kRecord, "record"},  {BroughtKind::kLaunch, "launch"},
    {BroughtKind::kOther, "something"}};

/// True if a text is a document in JSON, not a dictionary of Python as logs print them.
bool is_json_document(std::string_view text);

/// Says what a text is. A text that is cut, as the beginning of a long file is, is judged by its
/// first line and its form. A configuration in YAML or TOML must be named as one, or hold a mark of
/// a framework: few lines of a log read as YAML, too.
BroughtKind brought_kind(const launch_scripts::SourceFile& file);

/// True if a text holds a mark of the files of some framework.
bool has_framework_mark(const launch_scripts::SourceFile& file);

}  // namespace stepwright::framework_files
