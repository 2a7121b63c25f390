#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// The communication library that is assumed when none is named.
inline constexpr std::string_view kDefaultLibrary = "nccl";

/// Returns the documented constants, with the attainable share of the NICs of the device's
/// generation.
CollectiveConstants unfitted_collectives(const cluster::Cluster& cluster);

/// Returns fitted constants from the built-in profiles: the profile of the cluster's name, else of
/// its device, else `unfitted_collectives`. Constants that a profile does not state keep their
/// defaults.
CollectiveConstants collectives_of(const cluster::Cluster& cluster,
                                   std::string_view library = kDefaultLibrary);
/// Returns fitted constants from the profile `profile` only.
CollectiveConstants collectives_of_profile(const cluster::Cluster& cluster,
                                           std::string_view profile, std::string_view library);

/// Overwrites constants with the entry of `library` in the `collectives` list of a profile; false
/// when the list has none. Fails with `kInput` on unknown keys and on values out of range.
bool read_collectives(Node list, std::string_view library, CollectiveConstants& constants);

/// True for the parts of an operation's constants that were fitted.
struct FittedParts {
  bool network = false;  ///< Network constants: the fit had rows on more than one node.
  bool tree = false;     ///< Tree constants: the fit had all-reduces on more than one node.
};
/// Returns the entry of one operation, which `read_collectives` can read back; numbers are rounded
/// to four digits.
nlohmann::ordered_json operation_json(const OperationConstants& constants, FittedParts parts);

}  // namespace stepwright::cost
