#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Returns the code of a plan, short enough for a table: "tp8+sp pp4x2 dp2 mb1 zero1 recompute:full
/// exposed:tp,pp". The code leaves out recomputation if there is none, and messages that overlap
/// computation.
std::string plan_code(const Plan& plan);

/// One mark of a plan's code: "tp8", "+sp".
struct CodeMark {
  std::string code;
  std::string_view field;  ///< The choice of a plan file that the mark states.
  std::string means;       ///< Meaning of the mark, in a sentence.
};

/// Splits a plan's code, or some words of one, into its marks, in order. Throws `Error{kInput}`,
/// listing the known marks, if a mark is unknown or repeated, or there is none.
std::vector<CodeMark> explained_code(std::string_view code);

/// Returns the lines under a table of plans, at most 100 columns wide, that explain the marks of
/// their codes; empty if there are no plans.
std::string code_legend(const std::vector<Plan>& plans);

/// Returns the usual name of a sharding ("zero1") or, without one, its letters ("NIG").
std::string sharding_name(const Sharding& sharding);

}  // namespace stepwright::plan
