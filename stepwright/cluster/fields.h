#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/quantity.h"

namespace stepwright::cluster {

/// The largest bytes, bytes/s or FLOP/s that a mapping may state: beyond any device, but small
/// enough that no product overflows.
inline constexpr double kMost = 1e18;

/// Reads a key into `value`. The key may be absent if `value` already has a profile's value
/// (neither zero nor empty).
void read_amount(Node node, std::string_view key, Quantity quantity, double& value);
void read_count(Node node, std::string_view key, std::int64_t high, std::int64_t& value);
void read_name(Node node, std::string_view key, std::string& value);

/// Where a mapping is: kFile: it is a whole file, which begins with its version; kInside: it is
/// part of another mapping.
enum class Place { kFile, kInside };

/// Fails if a key is unknown; for a whole file, also if its first key is not `stepwright` with the
/// value `version`.
void check_keys(Node node, Place place, std::string_view version,
                std::span<const std::string_view> keys);

/// Fails because `word` names no built-in entry of this kind. `also`: what else is allowed, for the
/// message.
[[noreturn]] void fail_unknown(Node node, std::string_view kind, std::string_view word,
                               std::span<const EmbeddedFile> files, std::string_view also);

}  // namespace stepwright::cluster
