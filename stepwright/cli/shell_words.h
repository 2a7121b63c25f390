#pragma once

#include <string>
#include <string_view>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::cli {

// All of it is what the program says of itself, so that no word is written twice.

/// Returns a bash script that completes the program's commands, options, and values that come from
/// a short list.
std::string bash_completion_script(const CLI::App& program);
/// Returns the script that completes the program's command line in zsh; `fish_completion_script`
/// returns the one for fish.
std::string zsh_completion_script(const CLI::App& program);
std::string fish_completion_script(const CLI::App& program);

/// Returns the manual page of the program and all its commands (roff, section 1).
std::string manual_page(const CLI::App& program);

}  // namespace stepwright::cli
