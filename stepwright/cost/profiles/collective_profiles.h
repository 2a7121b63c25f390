#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// Communication library whose fitted constants are used if a job names none.
inline constexpr std::string_view kDefaultCollectiveLibrary = "nccl";

/// Returns the documented message constants for clusters without a fit, with the share of the NICs'
/// line rate that is usual for the device's generation.
MachineCollectiveConstants collective_constants_without_fit(const cluster::Cluster& cluster);

/// Returns the message constants of a cluster: from the built-in profile with the cluster's name,
/// else from that of its device, else documented defaults. Constants that a profile leaves out keep
/// their defaults.
MachineCollectiveConstants collective_constants_of_cluster(
    const cluster::Cluster& cluster, std::string_view library = kDefaultCollectiveLibrary);
/// Returns message constants from the built-in profile of this name, with documented defaults for
/// what it leaves out.
MachineCollectiveConstants collective_constants_of_profile(const cluster::Cluster& cluster,
                                                           std::string_view profile,
                                                           std::string_view library);

/// Overwrites `constants` with the entry of `library` ("nccl", ...) in the `collectives` list of a
/// profile file; returns false if it has none. Fails with `kInput` on unknown keys and on values
/// out of range.
bool read_collective_constants(DocumentNode list, std::string_view library,
                               MachineCollectiveConstants& constants);

/// Which constants of a collective operation the measurements could determine; the others are not
/// written to the profile.
struct DeterminedConstantFlags {
  /// True if network constants were fitted: some measurements span several nodes.
  bool network = false;
  bool tree = false;  ///< True if tree constants were fitted: some all-reduces span several nodes.
};
/// Returns the profile entry of one collective operation as JSON, numbers rounded to four digits;
/// `read_collective_constants` reads it back.
nlohmann::ordered_json collective_constants_json(const CollectiveOperationConstants& constants,
                                                 DeterminedConstantFlags parts);

}  // namespace stepwright::cost
