#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/links.h"

namespace stepwright::traffic {

/// Returns the word for a phase in a ledger; data and weight gradients are both "backward".
std::string_view traffic_phase(step::Phase phase);

/// Returns the ledger of a step as `stepwright traffic --json` prints it: `ranks`, `messages`
/// (`operation`, `scheme`, `phase`, `group`, `group_size`, `payload_bytes`, `count`,
/// `sent_bytes_per_rank`), `totals` by scheme (`count`, `payload_bytes`, `sent_bytes`), `histogram`
/// (`at_least_bytes`, `count`, `payload_bytes`, `sent_bytes`; powers of two).
nlohmann::ordered_json traffic_json(const TrafficLedger& ledger, std::int64_t ranks);

/// Returns the loads of links: `levels` in the order of the cluster, and `nics`, each with `name`,
/// `units`, `busiest_unit`, `busiest_bytes`, `mean_bytes`. Clusters without NICs have no `nics`.
nlohmann::ordered_json links_json(const collective::LinkLoads& links);

}  // namespace stepwright::traffic
