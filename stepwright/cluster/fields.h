#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"
#include "stepwright/core/quantity.h"

namespace stepwright::cluster {

/// Most bytes, bytes/s or FLOP/s that a mapping may state: beyond any device, and small enough that
/// no product overflows.
inline constexpr double kMost = 1e18;

/// Reads a key into `value`. The key may be absent when a profile gave the value, that is, when it
/// is neither zero nor empty.
void read_amount(Node node, std::string_view key, Quantity quantity, double& value);
void read_count(Node node, std::string_view key, std::int64_t high, std::int64_t& value);
void read_name(Node node, std::string_view key, std::string& value);

/// Whether a mapping is a whole file (it then begins with its version) or stands in another.
enum class Place { kFile, kInside };

/// Fails unless all keys are known; of a file, also unless the first key, `stepwright`, is there
/// and says `version`.
void check_keys(Node node, Place place, std::string_view version,
                std::span<const std::string_view> keys);

/// Fails: `word` is the name of no built-in. `also` says what else is allowed.
[[noreturn]] void fail_unknown(Node node, std::string_view kind, std::string_view word,
                               std::span<const EmbeddedFile> files, std::string_view also);

}  // namespace stepwright::cluster
