#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/quantity.h"

namespace stepwright::cluster {

/// Upper limit for bytes, bytes/s and FLOP/s in a cluster file: beyond any device, but small enough
/// that no product overflows.
inline constexpr double kMaxClusterFileQuantity = 1e18;

/// Reads the quantity under a key of a mapping into `value`. The key may be missing if `value`
/// already holds a profile's value (not zero).
void read_quantity_field(DocumentNode node, std::string_view key, QuantityKind quantity,
                         double& value);
void read_count(DocumentNode node, std::string_view key, std::int64_t high, std::int64_t& value);
void read_name(DocumentNode node, std::string_view key, std::string& value);

/// Where a mapping stands: kFile: it is a whole file, which begins with the format's version;
/// kInside: it is part of another mapping.
enum class MappingPlace { kFile, kInside };

/// Fails if a mapping has a key that is not in `keys`, or if it is a whole file whose first key is
/// not `stepwright: version`.
void check_mapping_keys(DocumentNode node, MappingPlace place, std::string_view version,
                        std::span<const std::string_view> keys);

/// Fails with an error that `word` is no built-in `kind` (device, profile, ...), listing the known
/// ones. `also`: what else is allowed, for the message.
[[noreturn]] void fail_unknown_built_in_name(DocumentNode node, std::string_view kind,
                                             std::string_view word,
                                             std::span<const EmbeddedFile> files,
                                             std::string_view also);

}  // namespace stepwright::cluster
