#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// Reads the plan in the `text` of a question, or makes a first plan for the job there; messages
/// call the text `name`. The first plan is an expert's rule of thumb; if no such plan fits, it is
/// the plan that needs the least memory without splitting the model over devices. Fails as the
/// readers of jobs and plans.
plan::PlannedJob question_plan(const nlohmann::ordered_json& question);

/// Returns a plan in the form of answers: {`code`, `words`, `plan`}.
nlohmann::ordered_json named_plan_json(const plan::PlannedJob& planned);

/// Returns a plan that is offered instead of another: `named_plan_json`, and in `changes` the
/// differences from the other plan.
nlohmann::ordered_json offered_plan_json(const plan::PlannedJob& offered,
                                         const plan::PlannedJob& instead_of);

/// Returns an error in the form of answers: `error`, its message; for an `Error` also `kind`
/// (input, unsupported, runtime) and `place`: {`file`, `line`, `column`, `field`, `value`}.
nlohmann::ordered_json error_json(const std::exception& failure);

}  // namespace stepwright::explore
