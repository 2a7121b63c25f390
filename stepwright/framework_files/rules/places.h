#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "stepwright/plan/plan.h"

namespace stepwright::framework_files {

/// A switch or a count.
using Plain = std::variant<bool, std::int64_t>;

// Places have the names that plan files use: "parallel.tensor", "overlap.gradients". They come from
// the table of choices that plan files are read and written by (plan/choices/plan_table.h).

/// The switch or count at a place of a plan; nullopt if there is none.
std::optional<Plain> plain_at(const plan::Plan& plan, std::string_view place);

/// Sets a switch or count. Throws `std::bad_variant_access` if `value` has the other kind, and
/// `std::bad_optional_access` if the place has neither: both are mistakes in a table of rows.
void set_plain(plan::Plan& plan, std::string_view place, const Plain& value);

}  // namespace stepwright::framework_files
