#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// The arguments of a command as a mapping, as argparse takes those of transformers: `--name 2` and
/// `--name=2`; dashes in a name are underscores, an argument without a value is true, several
/// values are a list, of a repeated one the last counts. Words of no argument are passed over. A
/// name that only one of `known` begins with is that one, as argparse has it (`allow_abbrev`).
Tree command_fields(Words words, std::span<const KnownSetting> known = {});

/// A document with what a command says in the place of its own values.
Document with_command_fields(const Document& said, Words words,
                             std::span<const KnownSetting> known = {});

/// Tells whether an argument (`--name`) of such a command can change time, memory or messages of a
/// step: `StartedProgram::matters`.
std::function<bool(std::string_view)> matters_by(std::span<const KnownSetting> known);

}  // namespace stepwright::framework_files
