#pragma once

#include <span>
#include <string>

namespace stepwright {

/// A file that a person names with a command-line option, such as `--trace FILE`.
struct NamedFile {
  std::string option;  ///< Option that names the file: "--trace"; in Python the argument: "trace".
  std::string path;    ///< Path of the file; empty: the option was not given.
};

/// Fails with `kInput`, naming both options, if two outputs are the same file, or if an output is
/// also an input, even through links or other spellings. Pipes and devices may be named by several
/// outputs.
void check_distinct_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// Checks, before the work starts, that an output can be written. Fails with `kRuntime`, naming the
/// option, if not; for "-" with `kInput`.
void check_output(const NamedFile& output);

}  // namespace stepwright
