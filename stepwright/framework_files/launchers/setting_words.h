#pragma once

#include <array>
#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// A program whose arguments are words `a.b=value`.
struct SettingProgram {
  std::string_view framework;  ///< As people call it.
  std::string_view target;     ///< Whose commands start it.
  /// Whether a name is one of its settings and no variable of a script.
  bool (*has_setting)(std::string_view name);
  /// Options `--name value` or `--name=value` beside them, whose values stand under their names.
  std::array<std::string_view, 2> options{};
  bool launched = false;  ///< Whether torchrun says how many ranks there are.
  /// Whether each process uses all devices of its node, as those of JAX do.
  bool whole_nodes = false;
  bool hydra = false;  ///< Whether Hydra reads the words, which ends at one that it cannot read.
};

/// The settings `a.b=value` (also `+a.b=value`) among the words of the command in shell scripts
/// that starts a program, as a document, with `Given::settings` over them; under `[]` the first
/// YAML file among its other words. Conditions that are open are listed in the draft's report.
/// `ProgramStart::program` is then what the command starts. Fails as `started_command`.
Document read_setting_words(Sources files, const SettingProgram& program, const Given& given,
                            JobExtent& extent, ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
