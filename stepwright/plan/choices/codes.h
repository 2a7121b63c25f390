#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Returns a short code of a plan for tables: "tp8+sp pp4x2 dp2 mb1 zero1 recompute:full
/// exposed:tp,pp". Recomputation is left out if there is none; `exposed:` lists messages that could
/// overlap computation but do not.
std::string short_plan_code(const Plan& plan);

/// One mark in the code of a plan ("tp8", "+sp") and its explanation.
struct PlanCodeMark {
  std::string code;
  /// Choice of plan files that the mark states ("overlap", "schedule.chunks").
  std::string_view field;
  std::string means;  ///< Explanation of the mark, as a sentence.
};

/// Splits a plan's code (or a part of one) into its marks and explains each, in order. Throws
/// `Error{kInput}`, listing the known marks, if a mark is unknown or repeated, or there is none.
std::vector<PlanCodeMark> explain_plan_code(std::string_view code);

/// Returns a legend for a table of plans that explains all marks in their codes, in lines of at
/// most 100 columns; empty if there are no plans.
std::string legend_of_plan_codes(const std::vector<Plan>& plans);

/// Returns the usual name of a sharding strategy ("zero1"); if it has none, its letters for
/// parameters, gradients and optimizer ("NIG").
std::string sharding_name(const Sharding& sharding);

}  // namespace stepwright::plan
