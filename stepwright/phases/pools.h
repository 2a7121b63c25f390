#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/phases/phased_step.h"
#include "stepwright/tune/tune.h"

namespace stepwright::phases {

/// The steps of a job for different splits of its devices into training and generation, each with
/// the best plan for the training devices.
struct PoolSplits {
  std::vector<PhasedStep> steps;  ///< Steps sorted by verdict, then by time; at least one.
};

using Search = std::function<tune::TuneResult(const plan::Job&)>;

/// Returns the split that the job states, else the best splits: all devices train and generate
/// alternately, or some only generate. A method without generation has no split. If a plan leaves
/// no room for the other models, the next smaller plan is searched. Fails with `kInput` if the
/// stated split has no legal plan, with `kRuntime` if no plan fits.
PoolSplits best_splits(const plan::Job& job, const Search& search);

/// Writes `splits` of `stepwright phases JOB --json`.
nlohmann::ordered_json splits_json(const PoolSplits& splits);

}  // namespace stepwright::phases
