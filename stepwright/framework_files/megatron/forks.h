#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Value of the field `attention_backend` if a fork of Megatron-LM (MindSpeed) uses its own fused
/// attention kernel.
inline constexpr std::string_view kMegatronForkAttentionBackend = "fusion";

/// Removes a field from the fields that arguments set and returns its value; nullopt if no argument
/// sets it.
std::optional<DocumentTree> remove_argument_field(MegatronArgumentFields& arguments,
                                                  std::string_view field);

/// Translates arguments of Megatron-LM's forks into Megatron's own fields, and records in the
/// report whether the forks' other arguments can change a step. `name` is the file's name in
/// messages. Fails with `kInput` for impossible values. Sources: Ascend/MindSpeed
/// mindspeed/features_manager, mindspeed/arguments.py; Ascend/MindSpeed-LLM
/// mindspeed_llm/training/arguments.py.
void translate_fork_arguments(MegatronArgumentFields& arguments, const std::string& name,
                              ImportReport& report);

/// True if a command has an argument that exists only in a fork of Megatron-LM. Call it before the
/// forks' arguments are translated.
bool has_fork_arguments(const MegatronArgumentFields& arguments, const ImportReport& report);

}  // namespace stepwright::framework_files
