#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// The number behind an option of a launcher: `--nodes=8`, `--nodes 8`, `-N 8`, `-N8`,
/// `--gres=gpu:8`. Nothing where it is not there, or no whole number above zero.
std::optional<std::int64_t> batch_option(std::span<const ShellWord> words, std::string_view full,
                                         std::string_view brief = "");

}  // namespace stepwright::launch_scripts
