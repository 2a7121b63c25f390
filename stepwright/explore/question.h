#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// Returns the plan in the `text` of a question; if the text is a job, a first plan for it, by an
/// expert's rule of thumb or, if that does not fit, the plan that needs the least memory without
/// splitting the model over devices. `name`: the text's name in messages. Fails with `kInput` for a
/// malformed text.
plan::PlannedJob plan_of_explorer_question(const nlohmann::ordered_json& question);

/// Returns a plan as JSON for the explorer's page: {`code` (short code), `words` (description),
/// `plan`}.
nlohmann::ordered_json described_plan_json(const plan::PlannedJob& planned);

/// Returns a plan that the explorer's page offers instead of the current one, as JSON: {`code`,
/// `words`, `plan`, `changes` (differences from the current plan)}.
nlohmann::ordered_json explorer_alternative_plan_json(const plan::PlannedJob& offered,
                                                      const plan::PlannedJob& instead_of);

/// Returns an error as JSON for the explorer's page: `error`, its message; for an `Error` also
/// `kind` (input, unsupported, runtime) and `place`: {`file`, `line`, `column`, `field`, `value`}.
nlohmann::ordered_json explorer_error_json(const std::exception& failure);

}  // namespace stepwright::explore
