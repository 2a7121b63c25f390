#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::cost {

/// A message by c10d's Gloo or by a schedule, as it is sampled on the user's own cluster.
struct PlanMessage {
  /// Algorithm of the message's schedule; nullopt: c10d's Gloo.
  std::optional<collective::Algorithm> method;
  collective::Collective operation{};
  SocketGroup group;
  double payload_bytes = 0;  ///< Bytes of the message's full buffer.
  bool operator==(const PlanMessage&) const = default;
};

/// Returns the distinct messages of a step, in the order of its operators: those whose measured
/// times the step's price uses. Messages in groups of one rank are left out.
std::vector<PlanMessage> plan_messages(
    const step::StepProgram& program, const CostModel& cost,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::Collectives& collectives);

}  // namespace stepwright::cost
