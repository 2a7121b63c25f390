#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// A plan as short as a table wants it: "tp8+sp pp4x2 dp2 mb1 zero1 recompute:full exposed:tp,pp";
/// it does not say what is not recomputed, and which messages run beside computation.
std::string plan_code(const Plan& plan);

/// One mark of a code: "tp8", "+sp".
struct CodeMark {
  std::string code;
  std::string_view field;  ///< The choice of a plan file.
  std::string means;       ///< Meaning of the mark, in a sentence.
};

/// The marks of a code that `plan_code` may have written, or of some of its words, in their order.
/// Throws `Error{kInput}`, saying what there may be, where the code has another one, one twice, or
/// none.
std::vector<CodeMark> explained_code(std::string_view code);

/// The lines under a table of plans, of at most 100 columns, that say what the marks of their codes
/// stand for; empty without plans.
std::string code_legend(const std::vector<Plan>& plans);

/// The name that the field has for a sharding ("zero1"), else its letters ("NIG").
std::string sharding_name(const Sharding& sharding);

}  // namespace stepwright::plan
