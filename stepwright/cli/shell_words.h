#pragma once

#include <string>
#include <string_view>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 gave itself
class App;
}

namespace stepwright::cli {

// All of it is what the program says of itself, so that no word is written twice.

/// The script that completes commands, options and the values that are one of a few, in bash.
std::string bash_completion(const CLI::App& program);
/// Completion in zsh, and in fish.
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

/// The manual page of the program and all its commands (roff, section 1).
std::string manual_page(const CLI::App& program);

}  // namespace stepwright::cli
