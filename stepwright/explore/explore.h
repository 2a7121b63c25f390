#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Answers a question of the explorer's web page, {`ask`, `name`, `text`}. `ask`: `choices`,
/// `predict`, `timeline`, `pictures`, `tune`, `launches`, `export`, `nearest_fit`,
/// `smallest_cluster`, `remedies`, `check` or `import`. `text`: a plan or job (not for `choices`
/// and `import`); `name`: its name in messages. `predict` answers an illegal plan with the reason
/// and the nearest legal plans. `settle: true`: first set the data-parallel degree to use all
/// devices. Fails with `Error` on all other faults.
nlohmann::ordered_json answer_explorer_question(const nlohmann::ordered_json& question,
                                                const tune::SearchProgressCallback& progress = {});

}  // namespace stepwright::explore
