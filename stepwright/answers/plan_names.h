#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/tune/sweep.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// Returns the names of a plan in a report: {`code`, `words`}.
nlohmann::ordered_json plan_name(const plan::Plan& plan, const plan::Job& job);

/// Returns the names of the plans in `plans`, `alternatives`, `pareto`, `sweep` and `baseline` of
/// the answer of `tune`, each list in the order of the answer.
nlohmann::ordered_json plan_names(const tune::TuneResult& result,
                                  const std::optional<tune::Sweep>& sweep);

}  // namespace stepwright::answers
