#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// Reads the plan in the `text` of a question, or begins one for the job there; messages call the
/// text `name`. The beginning is the expert's rule of thumb; where nothing of that fits, the plan
/// that needs least memory without cutting the model. Fails as the readers of jobs and plans.
plan::PlannedJob planned_of(const nlohmann::ordered_json& question);

/// A plan as answers name it: {`code`, `words`, `plan`}.
nlohmann::ordered_json named_json(const plan::PlannedJob& planned);

/// A plan that is offered in the place of another: `named_json`, and `changes` against that.
nlohmann::ordered_json offered_json(const plan::PlannedJob& offered,
                                    const plan::PlannedJob& instead_of);

/// A failure as answers name it: `error`, the message; of an `Error` also `kind` (input,
/// unsupported, runtime) and `place`: {`file`, `line`, `column`, `field`, `value`}.
nlohmann::ordered_json error_json(const std::exception& failure);

}  // namespace stepwright::explore
