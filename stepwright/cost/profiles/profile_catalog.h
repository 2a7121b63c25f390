#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/embedded.h"
#include "stepwright/cost/profiles/operator_profile.h"

namespace stepwright::cost {

/// Returns the built-in profile files (folder `profiles/` of the repository), compiled into the
/// program.
std::span<const EmbeddedFile> embedded_operator_profiles();

/// Returns the names of the built-in operator profiles, sorted.
std::vector<std::string_view> built_in_profile_names();

/// Loads the built-in profile of this name, or else the file at this path. Fails with `kInput`,
/// listing the built-in names, if there is neither.
YamlJsonDocument load_profile(const std::string& name_or_path);

/// Returns the built-in operator profiles that price a device, in order of preference: its own,
/// then those of devices with similar 16-bit peak and memory bandwidth, until every operator class
/// is covered.
std::vector<const OperatorProfile*> operator_profiles_for(const cluster::DeviceModel& device);

}  // namespace stepwright::cost
