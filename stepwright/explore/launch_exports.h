#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// Programs whose files are written: [{`to`, `about`, `framework`}], the first ones those that most
/// people ask for.
nlohmann::ordered_json export_targets_json();

/// Writes the plan of a question for the program `to`, in its `release` if one is said; with
/// `nearest` the nearest plan that it runs. The answer: `file` {`name`, `text`}, `notes`, `plan` as
/// the file starts it with `step_time_s`, `peak_memory_bytes`, `fits` and `p_fits`, `as_it_is`.
/// Where the program does not run the plan: `refused` with the reason, and in `nearest` the plan
/// that it would write.
nlohmann::ordered_json exported_json(const nlohmann::ordered_json& question);

/// The starts of all frameworks for the legal plan of a question: `launches` [{`to`, `framework`,
/// `starts`, `why` (if not), `nearest` (an offered plan, if there is one), `step_time_s`, `fits`}].
nlohmann::ordered_json launches_json(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
