#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// Returns the number in an option of a launcher's command: `--nodes=8`, `--nodes 8`, `-N 8`,
/// `-N8`, `--gres=gpu:8`. nullopt if the option is absent or its value is not an integer above
/// zero.
std::optional<std::int64_t> launcher_option_number(std::span<const ShellWord> words,
                                                   std::string_view full,
                                                   std::string_view brief = "");

}  // namespace stepwright::launch_scripts
