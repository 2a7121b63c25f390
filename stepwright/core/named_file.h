#pragma once

#include <span>
#include <string>

namespace stepwright {

/// A file that a person names with an option.
struct NamedFile {
  std::string option;  ///< "--trace"; of a function of Python the argument: "trace".
  std::string path;    ///< Empty: the option was not given.
};

/// Fails with `kInput`, naming both options, when two outputs are the same file or an output is an
/// input: also through links and other spellings of a path. Pipes and devices take any number of
/// outputs.
void check_distinct(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// Asks whether a file can be written, before the work starts. Fails as `check_writable`, naming
/// the option.
void check_output(const NamedFile& output);

}  // namespace stepwright
