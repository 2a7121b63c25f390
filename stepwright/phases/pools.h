#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "stepwright/phases/phased_step.h"
#include "stepwright/tune/tune.h"

namespace stepwright::phases {

/// Predicted steps of a job for different splits of its devices into training and generating ones,
/// each with the best plan for the training devices.
struct DevicePoolSplits {
  /// Steps for all splits, those that fit in memory first, then by step time; at least one.
  std::vector<PhasedStep> steps;
};

using Search = std::function<tune::TuneResult(const plan::Job&)>;

/// Predicts the split of devices between training and generation that the job states, else finds
/// the best: all devices alternate, or some only generate. If a plan leaves no memory for the other
/// models, a plan that needs less memory is searched. Fails with `kInput` if the stated split has
/// no legal plan, with `kRuntime` if no plan fits.
DevicePoolSplits best_device_splits(const plan::Job& job, const Search& search);

/// Returns the JSON value of the key `splits` of `stepwright phases JOB --json`.
nlohmann::ordered_json device_splits_json(const DevicePoolSplits& splits);

}  // namespace stepwright::phases
