#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/fit/operators/device_fit.h"

namespace stepwright::fit {

/// The head of a profile, beside its fits.
struct ProfileHead {
  std::string name;
  FitTarget target;
  std::vector<std::string> sources;  ///< File names of the samples.
};

/// The profile document (docs/formats.md, "Profile") with the operators that were not refused.
nlohmann::ordered_json profile_json(const ProfileHead& head, const DeviceFit& fit);

/// The text of a profile file: indented, short lists on one line. The same fit gives the same
/// bytes.
std::string profile_text(const nlohmann::ordered_json& profile);

}  // namespace stepwright::fit
