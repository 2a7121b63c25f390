#pragma once

#include <string>

#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// Describes how the plan `to` differs from `from`, as "tensor 8 with data 16": the values of `to`.
std::string changes(const Plan& from, const Plan& to);

}  // namespace stepwright::plan
