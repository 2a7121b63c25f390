#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// Returns the choices that the explorer's page offers, as JSON: built-in `models` and `clusters`,
/// the `profiles` of these clusters (name, device, devices_per_node, memory_bytes, nics_per_node,
/// nic_bytes_per_s, link_bytes_per_s), the `targets` for which launch files can be written, and
/// `controls`, one for each choice of a plan or job that changes a step. A control has its `place`
/// in plan files ("schedule.chunks", "job.precision") and a `kind`: `size` (of
/// `legal_field_values_json`), `number`, `flag`, `words` (one of its `words`, {name, text}),
/// `flags` (a mapping of its words to yes or no), `text`, `optional` (may be left out; has `type`
/// and `help`), `recompute` or `graphs`. An empty word means that the choice is left out.
nlohmann::ordered_json explorer_choices_json();

}  // namespace stepwright::explore
