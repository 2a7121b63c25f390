#pragma once

#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/more_memory.h"
#include "stepwright/tune/tune.h"

namespace stepwright {

/// What `stepwright tune` prints: the best plan with its prediction, where the time goes, the
/// alternatives and what they win and lose, the front of time against memory, what `more` memory
/// would gain, and how the search went. `shortlisted`: plans to measure, shown when there are any.
/// `plain_list`: in place of the alternatives the runners-up, whatever their families, and why they
/// lost.
std::string tune_text(const TuneResult& result, const Prediction& best,
                      const std::vector<TunedPlan>& shortlisted,
                      const std::vector<MemoryStep>& more, bool plain_list);

/// That no plan fits in memory, by how much the smallest does not, and what fills it.
std::string misfit_text(const TuneResult& result);

/// One line that says how far a search is.
std::string progress_text(const TuneProgress& progress);

}  // namespace stepwright
