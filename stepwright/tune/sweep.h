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

/// The search result for one value of a swept field.
struct TuneSweepPoint {
  std::string value;  ///< The value of the swept field, as the user wrote it.
  /// The job with the swept field set to this value; its cluster has only the devices in use.
  plan::Job job;
  std::int64_t devices_idle = 0;
  std::optional<TunedPlan> best;
  std::string refused;  ///< Why there is no plan for this value; empty if there is one.
};

/// A field of a job that is varied, and the search result for each of its values.
struct TuneSweep {
  std::string field;  ///< The swept field, as the user wrote it: "cluster.nodes".
  std::vector<TuneSweepPoint> points;
};

/// The job field that a sweep varies, and the values to try.
struct SweptField {
  std::string field;
  /// The values to try, as text. Commas separate them, except commas inside brackets.
  std::vector<std::string> values;
};

/// Reads the field and values of the option `--sweep FIELD=VALUE,VALUE,...`. Fails with `kInput` if
/// the field or a value is missing; the error message shows `example`, a correct text.
SweptField read_swept_field(const std::string& text, std::string_view example);

/// Reads a sweep `FIELD=VALUE,VALUE,...` and makes the job of each value. FIELD is a field of the
/// job as for `predict --set`: "cluster.nodes=8,16", "cluster.nic=0.5x,1x,2x". Fails with `kInput`
/// for an unknown field (naming the nearest), a field of the plan, and a bad or missing value.
TuneSweep read_tune_sweep(const plan::Job& job, const std::string& text);

/// Finds the best plan for each value of a sweep. A value whose job has no legal plan gets none.
void tune_sweep_values(TuneSweep& sweep, const std::function<TuneResult(const plan::Job&)>& search);

/// Returns the JSON value of the key `sweep` in the output of `tune --json`: the best plan for each
/// value of the swept field.
nlohmann::ordered_json sweep_json(const TuneSweep& sweep,
                                  const std::optional<TrainingLengthAndPrice>& run);

}  // namespace stepwright::tune
