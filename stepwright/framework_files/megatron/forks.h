#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/megatron/flags.h"

namespace stepwright::framework_files {

/// Word of `attention_backend`: a fused kernel of a fork in the place of Megatron's own attention.
inline constexpr std::string_view kForkAttention = "fusion";

/// Takes a field out of arguments; nothing where they do not say it.
std::optional<Tree> take_field(MegatronArguments& arguments, std::string_view field);

/// Says what arguments of forks of Megatron-LM mean in its own words, and of those that mean
/// nothing there whether they can matter. Fails with `kInput` on values that cannot be.
/// `name`: of the file. Ascend/MindSpeed mindspeed/features_manager, mindspeed/arguments.py;
/// Ascend/MindSpeed-LLM mindspeed_llm/training/arguments.py.
void take_forks(MegatronArguments& arguments, const std::string& name, ImportReport& report);

/// True if some argument is one that a fork of Megatron-LM has and itself has not. The arguments
/// are as `read_flags` returns them.
bool has_forks(const MegatronArguments& arguments, const ImportReport& report);

}  // namespace stepwright::framework_files
