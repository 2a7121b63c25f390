#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/sources.h"

namespace stepwright::framework_files {

/// The value of an argument that a file states, under the name in the file.
struct StatedValue {
  std::string name, value;
  std::uint32_t line = 0;  ///< Line of the file, counted from 1.
};

/// The arguments of a run, from a text that is not a command.
struct StatedArguments {
  std::vector<ShellWord> words;  ///< The arguments in the form of a command's words.
  std::map<std::string, ShellWord> environment;
  std::optional<std::int64_t> ranks;
  /// Values of all arguments, also of those at Megatron's default; empty if the file states only
  /// some arguments.
  std::vector<StatedValue> values;
};

/// Reads the block of arguments that Megatron-LM prints at its start ("name ...... value" between
/// lines of dashes) from a log, or `MODEL_ARGS` and `ENV_VARS` of a model_config.yaml of its
/// functional tests. nullopt for another file. `settings` (`NAME=VALUE`) replace `${NAME}` in such
/// a file. Fails with `kInput` for a block without arguments and for an argument of unknown value.
std::optional<StatedArguments> read_stated_arguments(const SourceFile& file,
                                                     std::span<const std::string> settings);

/// True if a file is such a log or such a model_config.yaml.
bool states_arguments(const SourceFile& file);

/// Renames the settings of a report to the file's names, and adds as read the stated values that
/// are Megatron's defaults. Arguments that no release of Megatron-LM has are listed as not read.
void report_stated(const StatedArguments& stated, const std::string& name, ImportReport& report);

}  // namespace stepwright::framework_files
