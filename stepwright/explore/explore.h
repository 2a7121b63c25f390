#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Answers a question of the explorer's page, {`ask`, `name`, `text`}. `ask` is `choices`,
/// `predict`, `timeline`, `pictures`, `tune`, `launches`, `export` (launch_exports.h),
/// `nearest_fit`, `smallest_cluster`, `remedies`, `check` (ways_out.h) or `import` (own_job.h). All
/// but `choices` and `import` need a plan or a job in `text`; `name` is its name in messages. For
/// an illegal plan, `predict` returns the reason and the nearest legal plans; `not_run` lists what
/// the job's framework cannot run and the nearest plan that it can. `settle: true`: the
/// data-parallel degree is first set to use all remaining devices. Fails with `Error` on all other
/// faults.
nlohmann::ordered_json explore(const nlohmann::ordered_json& question,
                               const tune::TellProgress& progress = {});

}  // namespace stepwright::explore
