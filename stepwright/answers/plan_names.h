#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/plan/job.h"
#include "stepwright/tune/sweep.h"
#include "stepwright/tune/tune.h"

namespace stepwright::answers {

/// Returns the names of a plan for a report: {`code`: the short code, `words`: a description in
/// words}.
nlohmann::ordered_json plan_code_and_words_json(const plan::Plan& plan, const plan::Job& job);

/// Returns names for the plans in `plans`, `alternatives`, `pareto`, `sweep` and `baseline` of a
/// `tune` answer, each list in the answer's order.
nlohmann::ordered_json listed_plan_names_json(const tune::TuneResult& result,
                                              const std::optional<tune::TuneSweep>& sweep);

}  // namespace stepwright::answers
