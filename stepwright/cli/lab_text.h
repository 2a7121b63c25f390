#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stepwright/lab/capacity.h"
#include "stepwright/lab/rank_run.h"
#include "stepwright/lab/spec.h"

namespace stepwright::cli {

/// Returns what `lab check` prints (`lab_check_json`: as JSON): the link rates of a lab (a cluster
/// emulated on this machine), this machine's TCP rate in bytes/s, and the share of its rate that
/// each link keeps when all links are busy.
std::string lab_check_text(const lab::EmulatedClusterSpec& spec, double capacity_bytes_per_s,
                           const lab::BusyLinkRateShares& busy);
nlohmann::ordered_json lab_check_json(const lab::EmulatedClusterSpec& spec,
                                      double capacity_bytes_per_s,
                                      const lab::BusyLinkRateShares& busy);

/// Returns why the links of a lab (a cluster emulated on this machine) are too fast for a machine
/// with this TCP rate, in bytes/s; empty: they are not too fast.
std::string emulated_links_too_fast_reason(const lab::EmulatedClusterSpec& spec,
                                           double capacity_bytes_per_s);

/// Returns a JSON object that says how each rank of a lab run ended.
nlohmann::ordered_json lab_run_json(const lab::RankRunResult& result);

}  // namespace stepwright::cli
