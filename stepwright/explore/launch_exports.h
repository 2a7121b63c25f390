#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// Returns the frameworks and launchers whose files can be written, [{`to`, `about`, `framework`}],
/// the most requested ones first.
nlohmann::ordered_json export_targets_json();

/// Exports the plan of a question for the program `to`, in its `release` if one is given;
/// `nearest`: export the nearest plan that the program can run. Returns `file` {`name`, `text`},
/// `notes`, the exported `plan` with `step_time_s`, `peak_memory_bytes`, `fits` and `p_fits`, and
/// `as_it_is`. If the program cannot run the plan, it returns the reason in `refused` and the plan
/// that would be exported in `nearest`.
nlohmann::ordered_json exported_plan_json(const nlohmann::ordered_json& question);

/// Returns for each framework whether its files can start the legal plan of a question: `launches`
/// [{`to`, `framework`, `starts`, `why` (if not), `nearest` (a plan to use instead, if there is
/// one), `step_time_s`, `fits`}].
nlohmann::ordered_json framework_launches_json(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
