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

/// A Megatron-LM argument that a log or a test configuration states: its name there and its value.
struct StatedMegatronArgument {
  std::string name, value;
  std::uint32_t line = 0;  ///< Line of the file that states the argument, counted from 1.
};

/// The arguments of a Megatron-LM run, from a log that prints them or a functional test's
/// model_config.yaml.
struct StatedMegatronArguments {
  /// The arguments as the words of the equivalent command: "--micro-batch-size", "1".
  std::vector<ShellWord> words;
  std::map<std::string, ShellWord> environment;
  std::optional<std::int64_t> ranks;
  /// Values of all arguments, even those at Megatron's defaults; empty if the file states only some
  /// arguments.
  std::vector<StatedMegatronArgument> values;
};

/// Reads a run's arguments from Megatron-LM's log (lines "name ...... value"), or from a
/// model_config.yaml of its functional tests, where `settings` (`NAME=VALUE`) replace `${NAME}`.
/// nullopt for other files. Fails with `kInput` if there are no arguments or a value is unknown.
std::optional<StatedMegatronArguments> read_logged_megatron_arguments(
    const SourceFile& file, std::span<const std::string> settings);

/// True if a file is a log with Megatron-LM's printed arguments, or a model_config.yaml of its
/// functional tests.
bool file_logs_megatron_arguments(const SourceFile& file);

/// Renames the settings of a report from arguments to their names in the log, and adds the stated
/// values that are Megatron's defaults as read. Arguments that no release of Megatron-LM has are
/// reported as not read.
void report_logged_megatron_arguments(const StatedMegatronArguments& stated,
                                      const std::string& name, ImportReport& report);

}  // namespace stepwright::framework_files
