#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/traffic_sweep.h"
#include "stepwright/plan/job.h"
#include "stepwright/traffic/ledger.h"
#include "stepwright/traffic/links.h"
#include "stepwright/traffic/matrix.h"

namespace stepwright::answers {

/// The options of a count of messages.
struct TrafficRequest {
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  std::optional<std::int64_t> rank;  ///< Rank from 0; nullopt: all ranks.
  bool links = false;                ///< True if the bytes on links and NICs are wanted, too.
  std::string sweep;                 ///< "FIELD=VALUE,VALUE,..."; empty: no sweep.
};

/// Every message that a step of a plan sends.
struct TrafficAnswer {
  std::int64_t ranks = 0;            ///< Ranks of the plan.
  std::optional<std::int64_t> rank;  ///< Rank whose messages `ledger` has; nullopt: all ranks.
  traffic::Ledger ledger;
  traffic::TrafficMatrix matrix;
  std::optional<collective::LinkLoads> links;
  std::optional<TrafficSweep> sweep;
  std::vector<std::string> notes;  ///< Remarks for people who read the answer.
};

/// Lists the messages of a plan. Fails with `kInput` where a change, a value or the rank is none,
/// or where the plan is not legal with the changes.
TrafficAnswer answer_traffic(plan::PlannedJob planned, const TrafficRequest& request);

/// The document of `traffic --json` (docs/formats.md).
nlohmann::ordered_json traffic_answer_json(const TrafficAnswer& answer);

}  // namespace stepwright::answers
