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

/// The arguments of the command `stepwright traffic`, besides the plan itself.
struct PlanTrafficRequest {
  std::string name;  ///< Name of the plan's file, used in messages.
  /// Changes to the plan to try: "FIELD=VALUE" or "FIELD=2x" (twice the value).
  std::vector<std::string> changes;
  /// Rank whose messages are listed, from 0; nullopt: all ranks.
  std::optional<std::int64_t> rank;
  bool links = false;  ///< True: also compute the bytes that cross each link and NIC.
  std::string sweep;   ///< Plan field to vary, as "FIELD=VALUE,VALUE,..."; empty: no sweep.
};

/// The result of the command `traffic`: every message that a training step of a plan sends.
struct PlanTrafficAnswer {
  std::int64_t ranks = 0;  ///< Number of ranks of the plan.
  /// Rank whose messages the result lists, from 0; nullopt: all ranks.
  std::optional<std::int64_t> rank;
  traffic::TrafficLedger ledger;
  traffic::TrafficMatrix matrix;
  std::optional<collective::LinkLoads> links;
  std::optional<TrafficSweep> sweep;
  /// Notes for the user about assumptions and about what the numbers leave out.
  std::vector<std::string> notes;
};

/// Lists the messages that a step of a plan sends. Fails with `kInput` if a change, a value or the
/// rank is invalid, or if a change makes the plan illegal.
PlanTrafficAnswer list_plan_messages(plan::PlannedJob planned, const PlanTrafficRequest& request);

/// Returns the JSON document that `traffic --json` prints (docs/formats.md).
nlohmann::ordered_json traffic_answer_json(const PlanTrafficAnswer& answer);

}  // namespace stepwright::answers
