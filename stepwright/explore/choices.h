#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::explore {

/// What a person of the explorer can choose: built-in `models` and `clusters`, and `controls`, one
/// for each choice of a plan (plan/choices/plan_table.h) and for those of its job that change a
/// step. A control has a `place` in plan files ("schedule.chunks", "job.precision") and a `kind`:
/// `size` (of `sizes_json`), `number`, `flag`, `words` (one of its `words`, {name, text}), `flags`
/// (a mapping of its words to yes or no), `text`, `optional` (typed, may be left out; its `type`
/// and `help` as of options), and of their own `recompute` and `graphs`. A word that is empty
/// stands for a choice that is left out.
nlohmann::ordered_json choices_json();

}  // namespace stepwright::explore
