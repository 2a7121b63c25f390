#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/embedded.h"
#include "stepwright/cost/profiles/operator_profile.h"

namespace stepwright::cost {

/// The files of the top folder `profiles/`, compiled in.
std::span<const EmbeddedFile> embedded_profiles();

/// Names of the built-in profiles, sorted.
std::vector<std::string_view> built_in_profiles();

/// A built-in profile by name, or else a profile file. Fails with `kInput` when there is neither,
/// naming the nearest built-in one.
Document load_profile(const std::string& name_or_path);

/// The built-in profiles for a device: its own first, then by how far the device's dense 16-bit
/// peak and memory bandwidth are from theirs, until every class of operators of a program is
/// covered.
std::vector<const OperatorProfile*> operator_profiles_for(const cluster::Device& device);

}  // namespace stepwright::cost
