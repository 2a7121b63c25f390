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

/// The arguments of the command `stepwright traffic`.
struct TrafficRequest {
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  /// Rank whose messages are listed, from 0; nullopt: all ranks.
  std::optional<std::int64_t> rank;
  bool links = false;  ///< True: also compute the bytes on links and NICs.
  std::string sweep;   ///< Field to vary, as "FIELD=VALUE,VALUE,..."; empty: none.
};

/// The result of `traffic`: every message that a step of a plan sends.
struct TrafficAnswer {
  std::int64_t ranks = 0;            ///< Number of ranks of the plan.
  std::optional<std::int64_t> rank;  ///< Rank whose messages are in `ledger`; nullopt: all ranks.
  traffic::TrafficLedger ledger;
  traffic::TrafficMatrix matrix;
  std::optional<collective::LinkLoads> links;
  std::optional<TrafficSweep> sweep;
  std::vector<std::string> notes;  ///< Notes about assumptions and gaps, for the user.
};

/// Lists the messages of a plan. Fails with `kInput` if a change, a value or the rank is invalid,
/// or if a change makes the plan illegal.
TrafficAnswer list_plan_messages(plan::PlannedJob planned, const TrafficRequest& request);

/// Returns the document of `traffic --json` (docs/formats.md).
nlohmann::ordered_json traffic_answer_json(const TrafficAnswer& answer);

}  // namespace stepwright::answers
