#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"

namespace stepwright::cost {

/// One kind of message in a plan's step, as the user can measure it on their own cluster: by c10d's
/// Gloo backend or by an explicit schedule of sends.
struct MeasurablePlanMessage {
  /// Algorithm of the explicit schedule that sends the message; nullopt: Gloo sends it.
  std::optional<collective::CollectiveAlgorithm> method;
  collective::CollectiveOperation operation{};
  GroupNodePlacement group;
  double payload_bytes = 0;  ///< Bytes of the whole buffer before any split over ranks.
  bool operator==(const MeasurablePlanMessage&) const = default;
};

/// Returns the distinct messages of a step, in the order of its operators, whose times the user can
/// measure to improve the step's price. Messages in groups of one rank are left out.
std::vector<MeasurablePlanMessage> plan_messages_to_measure(
    const step::StepProgram& program, const CostModel& cost,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::CollectiveAlgorithmChoices& collectives);

}  // namespace stepwright::cost
