#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Returns the arguments of a command as a mapping, as transformers' argparse reads them: `--name
/// 2` and `--name=2`; dashes in a name become underscores, an argument without a value is true,
/// several values are a list, and the last of repeated arguments counts. Words that belong to no
/// argument are ignored. A prefix of exactly one name in `known` means that name (`allow_abbrev`).
Tree command_fields(Words words, std::span<const KnownSetting> known = {});

/// Returns a document in which the arguments of a command override the document's values.
Document with_command_fields(const Document& said, Words words,
                             std::span<const KnownSetting> known = {});

/// Returns a function that is true if an argument (`--name`) of such a command can change time,
/// memory or messages of a step (for `StartedProgram::matters`).
std::function<bool(std::string_view)> argument_impact(std::span<const KnownSetting> known);

}  // namespace stepwright::framework_files
