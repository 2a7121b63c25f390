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

/// A value that a file states of an argument, under the name that it has there.
struct StatedValue {
  std::string name, value;
  std::uint32_t line = 0;  ///< Line of the file, counted from 1.
};

/// The arguments of a run where they are not a command.
struct StatedArguments {
  std::vector<ShellWord> words;  ///< As a command would have them.
  std::map<std::string, ShellWord> environment;
  std::optional<std::int64_t> ranks;
  /// Values of all arguments, also of those that are as Megatron has them anyway; empty where a
  /// file states some only.
  std::vector<StatedValue> values;
};

/// The block that Megatron-LM prints when it starts ("name ...... value" between lines of dashes),
/// from its log; or `MODEL_ARGS` and `ENV_VARS` of a model_config.yaml of its functional tests.
/// Nothing for another file. `settings` (`NAME=VALUE`) stand in the place of `${NAME}` in such a
/// file. Fails with `kInput` on a block without arguments and on an argument that one leaves open.
std::optional<StatedArguments> read_stated_arguments(const SourceFile& file,
                                                     std::span<const std::string> settings);

/// Whether a file is one of these.
bool states_arguments(const SourceFile& file);

/// Calls the settings of a report as the file does, and lists as read what it states as Megatron
/// has it anyway. What no release of Megatron-LM has is listed as not read.
void report_stated(const StatedArguments& stated, const std::string& name, ImportReport& report);

}  // namespace stepwright::framework_files
