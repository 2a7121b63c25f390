#pragma once

#include <string>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Returns the choices of plan `to` that differ from plan `from`, as text: "tensor 8 with data 16".
std::string differing_choices_text(const Plan& from, const Plan& to);

}  // namespace stepwright::plan
