#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Value of `attention_backend` for a fused kernel of a fork in place of Megatron's attention.
inline constexpr std::string_view kForkAttention = "fusion";

/// Removes a field from arguments and returns its value; nullopt if they do not set it.
std::optional<Tree> extract_field(MegatronArguments& arguments, std::string_view field);

/// Translates the arguments of Megatron-LM's forks into Megatron's own fields, and reports whether
/// the arguments without a counterpart can matter. Fails with `kInput` for impossible values.
/// `name` is the file's name. Sources: Ascend/MindSpeed mindspeed/features_manager,
/// mindspeed/arguments.py; Ascend/MindSpeed-LLM mindspeed_llm/training/arguments.py.
void translate_fork_arguments(MegatronArguments& arguments, const std::string& name,
                              ImportReport& report);

/// True if some argument exists only in a fork of Megatron-LM. The arguments are as `read_flags`
/// returned them.
bool has_forks(const MegatronArguments& arguments, const ImportReport& report);

}  // namespace stepwright::framework_files
