#pragma once

#include <string>
#include <vector>

namespace stepwright::fit {

/// A file of fitted constants that is about to be written.
struct FittedConstantsFile {
  std::string text;
  std::string path;  ///< Path to which the file will be written, for error messages.
  /// Names of the files of samples to which the constants were fitted.
  std::vector<std::string> samples;
};

/// Checks that commands can read the fitted file, by reading its text with their reader before it
/// is written. Fails with `kInput`, naming the samples and the field that cannot be read.
void check_operator_profile_readable(const FittedConstantsFile& profile);
void check_collectives(const FittedConstantsFile& profile);
void check_conditions(const FittedConstantsFile& conditions);
/// Checks that commands can read a measured profile, and that no computation in it takes zero time.
/// Fails with `kInput`, naming the samples and the field.
void check_measured_profile_readable(const FittedConstantsFile& profile);

}  // namespace stepwright::fit
