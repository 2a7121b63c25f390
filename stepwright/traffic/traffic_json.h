#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/links.h"

namespace stepwright::traffic {

/// Returns the name of a phase in traffic tables; data gradients and weight gradients are both
/// "backward".
std::string_view traffic_phase_name(step::Phase phase);

/// Returns the messages of a step as the JSON document of `stepwright traffic --json`: `ranks`,
/// `messages` (`operation`, `scheme`, `phase`, `group`, `group_size`, `payload_bytes`, `count`,
/// `sent_bytes_per_rank`), `totals` by scheme and `histogram` by size (`at_least_bytes`, powers of
/// two), both with `count`, `payload_bytes`, `sent_bytes`.
nlohmann::ordered_json traffic_json(const TrafficLedger& ledger, std::int64_t ranks);

/// Returns the bytes on the cluster's links as JSON: `levels` in the order of the cluster, and
/// `nics` (absent without NICs), each with `name`, `units`, `busiest_unit`, `busiest_bytes`,
/// `mean_bytes`.
nlohmann::ordered_json link_traffic_json(const collective::LinkLoads& links);

}  // namespace stepwright::traffic
