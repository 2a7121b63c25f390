#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The result for one value of a sweep.
struct SweepPoint {
  std::string value;  ///< The value as the person wrote it.
  plan::Job job;      ///< The job with the value set; its cluster has only the devices in use.
  std::int64_t devices_idle = 0;
  std::optional<TunedPlan> best;
  std::string refused;  ///< Why there is no plan for this value; empty: there is one.
};

/// The results of searching a job again for each value of one of its fields.
struct Sweep {
  std::string field;  ///< The field as the person wrote it.
  std::vector<SweepPoint> points;
};

/// The field that a sweep varies, and its values.
struct SweptField {
  std::string field;
  /// The values that commas separate; commas inside brackets belong to a value.
  std::vector<std::string> values;
};

/// Reads the text of `--sweep`, `FIELD=VALUE,VALUE,...`. Fails with `kInput` when the field or a
/// value is missing; `example`: a correct text that the message shows.
SweptField read_swept_field(const std::string& text, std::string_view example);

/// Reads `FIELD=VALUE,VALUE,...`, where FIELD is a field of the job as in `predict --set`
/// ("cluster.nodes=8,16", "cluster.nic=0.5x,1x,2x", "cluster.profile=dgx-h100,dgx-h200"). Fails
/// with `kInput` for an unknown field, naming the nearest, for a field of the plan, for a bad
/// value, and for a missing one.
Sweep read_sweep(const plan::Job& job, const std::string& text);

/// Finds the best plan of each point. A point whose job has no legal plan gets none.
void tune_sweep(Sweep& sweep, const std::function<TuneResult(const plan::Job&)>& search);

/// Returns the key `sweep` of the output of `tune --json`.
nlohmann::ordered_json sweep_json(const Sweep& sweep, const std::optional<TrainingRun>& run);

}  // namespace stepwright::tune
