#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// Returns a command's arguments (`--name 2`, `--name=2`) as a mapping, as transformers' argparse
/// reads them: dashes become underscores, no value means true, several values are a list, the last
/// repetition counts. A prefix of exactly one name in `known` means that name.
DocumentTree command_arguments_as_mapping(Words words, std::span<const KnownSetting> known = {});

/// Returns the configuration `said` of a training program with its values overridden by the
/// arguments of the command that starts it (`--name value`).
YamlJsonDocument with_command_arguments(const YamlJsonDocument& said, Words words,
                                        std::span<const KnownSetting> known = {});

/// Returns a predicate: true if an argument (`--name`) is unknown or can change time, memory or
/// communication of a step, by the settings table `known`.
std::function<bool(std::string_view)> step_relevant_argument_predicate(
    std::span<const KnownSetting> known);

}  // namespace stepwright::framework_files
