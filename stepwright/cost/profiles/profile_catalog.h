#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/embedded.h"
#include "stepwright/cost/profiles/operator_profile.h"

namespace stepwright::cost {

/// Returns the files of the top folder `profiles/`, compiled in.
std::span<const EmbeddedFile> embedded_profiles();

/// Returns the names of the built-in profiles, sorted.
std::vector<std::string_view> built_in_profiles();

/// Loads a built-in profile by its name, or else a profile file. Fails with `kInput` when there is
/// neither, listing the built-in ones.
Document load_profile(const std::string& name_or_path);

/// Returns built-in profiles for a device until every class of operators of a program is covered:
/// the device's own first, then by how near their dense 16-bit peak and memory bandwidth are to the
/// device's.
std::vector<const OperatorProfile*> operator_profiles_for(const cluster::Device& device);

}  // namespace stepwright::cost
