#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepwright::launch_scripts {

/// Applies a filter of a pipe (`wc -l`, `sort -u`, `uniq`, `head -n 1`, `tail`, `cut -d X -f 1`,
/// `tr`, `grep -c`, `awk '{print $1}'`, `cat`, `tee`) to a text. The result has no trailing
/// newlines; nullopt if the filter is none of these, or a part of the text is unknown.
std::optional<std::string> apply_shell_pipe_filter(const std::vector<std::string>& words,
                                                   const std::string& text);

}  // namespace stepwright::launch_scripts
