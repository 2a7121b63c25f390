#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/links.h"

namespace stepwright::cli {

/// Returns the text of `stepwright traffic` for a ledger: sums by scheme, then every kind of
/// message. `rank`: the rank whose messages the ledger has; nullopt: all ranks.
std::string traffic_text(const traffic::TrafficLedger& ledger, std::optional<std::int64_t> rank);

/// Returns the text that `stepwright traffic --links` adds: the bytes that each kind of link
/// carries.
std::string links_text(const collective::LinkLoads& links);

}  // namespace stepwright::cli
