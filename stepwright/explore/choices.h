#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// The choices of the explorer: built-in `models` and `clusters`, the `profiles` of
/// these clusters (name, device, devices_per_node, memory_bytes, nics_per_node, nic_bytes_per_s,
/// link_bytes_per_s), the `targets` for which launch files are written, and `controls`, one
/// for each choice of a plan (plan/choices/plan_table.h) and for those of its job that change a
/// step. A control has a `place` in plan files ("schedule.chunks", "job.precision") and a `kind`:
/// `size` (of `sizes_json`), `number`, `flag`, `words` (one of its `words`, {name, text}), `flags`
/// (a mapping of its words to yes or no), `text`, `optional` (typed, may be left out; its `type`
/// and `help` as of options), and of their own `recompute` and `graphs`. A word that is empty
/// stands for a choice that is left out.
nlohmann::ordered_json choices_json();

}  // namespace stepwright::explore
