#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/phases/phased_step.h"
#include "stepwright/tune/tune.h"

namespace stepwright::phases {

/// The steps of a job by how its devices are split, each with the best plan for those that train.
struct PoolSplits {
  std::vector<PhasedStep> steps;  ///< The shortest step first, at least one; all fit.
};

using Search = std::function<tune::TuneResult(const plan::Job&)>;

/// The split that the job states, else the best one: all devices train and generate in turns, or
/// some of them generate alone. A method without generation has no split. Of a plan that leaves no
/// room for the models beside it the next smaller one is looked for. Fails with `kInput` where the
/// stated split has no legal plan, with `kRuntime` where no plan fits.
PoolSplits best_splits(const plan::Job& job, const Search& search);

/// `splits` of `stepwright phases JOB --json`.
nlohmann::ordered_json splits_json(const PoolSplits& splits);

}  // namespace stepwright::phases
