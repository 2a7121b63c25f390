#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

/// The value of a plan field that is a switch or a count.
using Plain = std::variant<bool, std::int64_t>;

// Plan fields are named as in plan files: "parallel.tensor", "overlap.gradients". Their names are
// in the table of choices by which plan files are read and written (plan/choices/plan_table.h).

/// Returns the switch or count in a field of a plan; nullopt if there is no such field.
std::optional<Plain> plain_at(const plan::Plan& plan, std::string_view place);

/// Sets a switch or count. Throws `std::bad_variant_access` if `value` has the wrong kind, and
/// `std::bad_optional_access` if there is no such field; both are mistakes in a table of rows.
void set_plain(plan::Plan& plan, std::string_view place, const Plain& value);

}  // namespace stepwright::framework_files
