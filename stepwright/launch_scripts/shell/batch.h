#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::launch_scripts {

/// The words of the `#SBATCH` lines of a script.
std::vector<ShellWord> batch_options(std::string_view text, std::uint32_t file);

/// The number behind an option of a launcher: `--nodes=8`, `--nodes 8`, `-N 8`, `-N8`,
/// `--gres=gpu:8`. Nothing where it is not there, or no whole number above zero.
std::optional<std::int64_t> batch_option(std::span<const ShellWord> words, std::string_view full,
                                         std::string_view brief = "");

/// The variables that Slurm sets in a job with these options
/// (https://slurm.schedmd.com/sbatch.html, "output environment variables"), as far as the options
/// say them.
std::map<std::string, std::string> slurm_variables(std::span<const ShellWord> options);

}  // namespace stepwright::launch_scripts
