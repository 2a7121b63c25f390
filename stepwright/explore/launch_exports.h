#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// Returns the export targets (frameworks and launchers) whose launch files can be written, [{`to`,
/// `about`, `framework`}], the most requested ones first.
nlohmann::ordered_json export_targets_json();

/// Exports the plan of a question to the launch files of the program `to` (of its version
/// `release`, if given); `nearest`: export the nearest plan that the program can run. Returns
/// `file` {`name`, `text`}, `notes`, the exported `plan` with its prediction, and `as_it_is`; or
/// `refused` (the reason) and `nearest` (the plan to export instead) if the program cannot run the
/// plan.
nlohmann::ordered_json exported_plan_json(const nlohmann::ordered_json& question);

/// Returns for each framework whether its files can start a legal plan, as JSON: `launches` [{`to`,
/// `framework`, `starts`, `why` (if not), `nearest` (plan to use instead, if there is one),
/// `step_time_s`, `fits`}].
nlohmann::ordered_json launchable_frameworks_json(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
