#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

/// Value of a plan field that is a switch (bool) or a count (integer).
using Plain = std::variant<bool, std::int64_t>;

// Plan fields are named as in plan files: "parallel.tensor", "overlap.gradients". Their names are
// in the table of choices by which plan files are read and written (plan/choices/plan_table.h).

/// Returns the value of a plan field by its dotted name ("parallel.tensor"); nullopt if no field of
/// this name is a switch or a count.
std::optional<Plain> read_plan_switch_or_count(const plan::Plan& plan, std::string_view place);

/// Sets a plan field by its dotted name ("overlap.gradients"). Throws `std::bad_optional_access` if
/// no field of this name is a switch or a count, and `std::bad_variant_access` if `value` has the
/// wrong kind; both are mistakes in a settings table.
void write_plan_switch_or_count(plan::Plan& plan, std::string_view place, const Plain& value);

}  // namespace stepwright::framework_files
