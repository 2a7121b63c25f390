#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// A change of a job of which no plan fits that leaves one which does.
struct FittingJob {
  std::string how;  ///< In words, with what the job then says.
  TunedPlan tuned;
};

/// What leaves a plan that fits, each by itself: the optimizer on the hosts, or the parameters too
/// where that is not enough (where the job says nothing of them and its framework leaves them
/// there), and the fewest nodes found, up to 64 times as many. Empty where the answer has a plan
/// that fits, and where nothing of this helps.
std::vector<FittingJob> remedies(const TuneResult& result, const TuneOptions& options);

/// A sentence for people; empty without remedies.
std::string remedies_text(const std::vector<FittingJob>& remedies);

}  // namespace stepwright::tune
