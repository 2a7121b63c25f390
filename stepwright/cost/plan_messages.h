#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::cost {

/// A message by c10d's Gloo or by a schedule, as it is sampled on the cluster itself.
struct PlanMessage {
  std::optional<collective::Algorithm> method;  ///< Algorithm of a schedule; nullopt: Gloo.
  collective::Collective operation{};
  SocketGroup group;
  double payload_bytes = 0;  ///< Bytes of the full buffer.
  bool operator==(const PlanMessage&) const = default;
};

/// The distinct messages of a step, in the order of its operators: what its price asks of what was
/// measured on the cluster. Messages of one rank alone are none.
std::vector<PlanMessage> plan_messages(
    const step::StepProgram& program, const CostModel& cost,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::Collectives& collectives);

}  // namespace stepwright::cost
