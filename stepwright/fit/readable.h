#pragma once

#include <string>
#include <vector>

namespace stepwright::fit {

/// A file that a fit is about to write.
struct FittedFile {
  std::string text;
  std::string path;                  ///< Path of the file, for error messages.
  std::vector<std::string> samples;  ///< The files of samples that were fitted.
};

/// Reads the file with the reader of the commands that use it, so that no fit writes a file that
/// they refuse. Fails with `kInput`, naming the samples and the field that cannot be read.
void check_operator_profile(const FittedFile& profile);
void check_collectives(const FittedFile& profile);
void check_conditions(const FittedFile& conditions);
/// Reads a measured profile in the same way; also fails where a computation would take no time.
void check_measured_profile(const FittedFile& profile);

}  // namespace stepwright::fit
