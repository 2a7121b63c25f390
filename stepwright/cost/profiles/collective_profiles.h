#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/cost/laws/collective_constants.h"

namespace stepwright::cost {

/// The library that trains when nobody says which.
inline constexpr std::string_view kDefaultLibrary = "nccl";

/// The documented constants, with the attainable share of the NICs of the device's generation.
CollectiveConstants unfitted_collectives(const cluster::Cluster& cluster);

/// Fitted constants from the built-in profiles: those of the cluster's name, else of its device,
/// else `unfitted_collectives`. What a profile does not state stays at the default.
CollectiveConstants collectives_of(const cluster::Cluster& cluster,
                                   std::string_view library = kDefaultLibrary);
/// Fitted constants from the profile of that name alone.
CollectiveConstants collectives_of_profile(const cluster::Cluster& cluster,
                                           std::string_view profile, std::string_view library);

/// Overlays the entry of `library` in the `collectives` list of a profile; false when it has none.
/// Fails with `kInput` on unknown keys and on values out of range.
bool read_collectives(Node list, std::string_view library, CollectiveConstants& constants);

/// The parts of one operation that were fitted.
struct FittedParts {
  bool network = false;  ///< Rows on more than one node.
  bool tree = false;     ///< All-reduces on more than one node.
};
/// The entry of one operation that `read_collectives` reads back, numbers rounded to four digits.
nlohmann::ordered_json operation_json(const OperationConstants& constants, FittedParts parts);

}  // namespace stepwright::cost
