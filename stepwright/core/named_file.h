#pragma once

#include <span>
#include <string>

namespace stepwright {

/// A file that a person names with a command-line option.
struct NamedFile {
  std::string option;  ///< "--trace"; for a Python function its argument: "trace".
  std::string path;    ///< Path of the file; empty: the option was not given.
};

/// Fails with `kInput`, naming both options, if two outputs are the same file or an output is also
/// an input, even through links or different spellings of a path. Pipes and devices may be named by
/// several outputs.
void check_distinct_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

/// Checks that an output can be written, before the work starts. Fails as `check_writable`, naming
/// the option.
void check_output(const NamedFile& output);

}  // namespace stepwright
