#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Answers what the explorer's page asks, a question {`ask`, `name`, `text`}: `ask` is `choices`,
/// `predict`, `timeline`, `pictures`, `tune`, `launches`, `export` (launch_exports.h),
/// `nearest_fit`, `smallest_cluster`, `remedies`, `check` (ways_out.h) or `import` (own_job.h). All
/// but `choices` and `import` take a plan or a job in `text` and what messages call it in `name`.
/// `predict` answers a plan that no rule allows with the reason and the nearest that are legal, and
/// says in `not_run` what the job's framework does not run and the nearest plan that it runs. With
/// `settle: true` data parallelism first takes the devices that are left. Fails with `Error` on all
/// else that is wrong.
nlohmann::ordered_json explore(const nlohmann::ordered_json& question,
                               const tune::TellProgress& progress = {});

}  // namespace stepwright::explore
