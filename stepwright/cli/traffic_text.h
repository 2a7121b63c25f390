#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/links.h"

namespace stepwright::cli {

/// Returns the text of `stepwright traffic`: bytes sent in a step for each kind of parallelism,
/// then for every kind of message. `rank`: rank whose messages the ledger contains; nullopt: all
/// ranks.
std::string traffic_text(const traffic::TrafficLedger& ledger, std::optional<std::int64_t> rank);

/// Returns the text that `stepwright traffic --links` adds: the bytes that each kind of network
/// link carries in a step.
std::string link_traffic_text(const collective::LinkLoads& links);

}  // namespace stepwright::cli
