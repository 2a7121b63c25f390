#pragma once

#include <span>
#include <string>

namespace stepwright {

/// A file that a person names with a command-line option, such as `--trace FILE`.
struct CommandLineFile {
  std::string option;  ///< Option that names the file: "--trace"; in Python the argument: "trace".
  std::string path;    ///< Path of the file; empty: the option was not given.
};

/// Fails with `kInput`, naming both options, if two outputs are the same file, or if an output is
/// also an input, even through links or other spellings. Pipes and devices may be named by several
/// outputs.
void check_distinct_output_files(std::span<const CommandLineFile> outputs,
                                 std::span<const CommandLineFile> inputs);

/// Checks, before the work starts, that an output can be written. Fails with `kRuntime`, naming the
/// option, if not; for "-" with `kInput`.
void check_option_output_writable(const CommandLineFile& output);

}  // namespace stepwright
