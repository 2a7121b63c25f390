#pragma once

#include <array>
#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A program whose arguments are words of the form `a.b=value`.
struct SettingProgram {
  std::string_view framework;  ///< Framework name for messages.
  std::string_view target;     ///< Target whose start marks recognise the program's commands.
  /// True if a name is one of the program's settings, and not a variable of a script.
  bool (*has_setting)(std::string_view name);
  /// Options `--name value` or `--name=value`, whose values are stored under their names.
  std::array<std::string_view, 2> options{};
  bool launched = false;  ///< True if torchrun decides the number of ranks.
  /// True if each process uses all devices of its node, as in JAX.
  bool whole_nodes = false;
  bool hydra = false;  ///< True if Hydra reads the words, and so refuses one that it cannot parse.
};

/// Reads the command in shell scripts that starts a program. Returns its settings `a.b=value` (also
/// `+a.b=value`) as a document, overridden by `UserFacts::settings`; under `[]` is the first YAML
/// file among its other words. Undetermined conditions are added to the report. Sets
/// `ProgramStart::program` to the started program. Fails like `started_command`.
Document read_setting_words(Sources files, const SettingProgram& program, const UserFacts& given,
                            JobExtent& extent, ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
