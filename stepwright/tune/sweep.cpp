#include "stepwright/tune/sweep.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/fields_to_set.h"
#include "stepwright/simulate/efficiency.h"

namespace stepwright::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSweepOption = "--sweep";

Json value_json(const std::string& value) {
  const IntegerParseResult whole = read_integer(value);
  if (whole.status == IntegerParseResult::IntegerParseStatus::kGood) return whole.value;
  const std::optional<double> number = read_double(value);
  return number ? Json(*number) : Json(value);
}

/// Splits a text at commas, except commas inside brackets, which are part of a value.
std::vector<std::string> values_between_commas(std::string_view text) {
  std::vector<std::string> values(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      values.emplace_back();
    } else if (c != ' ') {
      values.back() += c;
    }
  }
  return values;
}

std::string option_text(const std::string& text) {
  return fmt::format("{} {}", kSweepOption, one_line_printable_text(text));
}

}  // namespace

SweptField read_swept_field(const std::string& text, std::string_view example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail_input(
        fmt::format("{}: must be FIELD=VALUE,VALUE,..., as in {}", option_text(text), example));
  }
  SweptField swept{.field = text.substr(0, equals),
                   .values = values_between_commas(std::string_view(text).substr(equals + 1))};
  for (const std::string& value : swept.values) {
    if (value.empty()) fail_input(fmt::format("{}: a value is missing", option_text(text)));
  }
  return swept;
}

TuneSweep read_tune_sweep(const plan::Job& job, const std::string& text) {
  const std::string name = option_text(text);
  const SweptField swept = read_swept_field(text, "cluster.nodes=8,16,32");
  TuneSweep sweep{.field = swept.field, .points = {}};
  if (sweep.field.starts_with("search") || sweep.field.starts_with("job.search")) {
    fail_input(
        fmt::format("{}: the section search limits what tune may choose: sweep a field of the "
                    "model, the cluster or the batch",
                    name));
  }
  if (!plan::full_path_of_settable_field(sweep.field, job, name).starts_with("job.")) {
    fail_input(fmt::format(
        "{}: {} is a field of plans, which tune chooses: fix it in the search section of the job",
        name, one_line_printable_text(sweep.field)));
  }
  for (const std::string& value : swept.values) {
    plan::PlannedJob changed =
        plan::plan_with_field({job, {}}, sweep.field + "=" + value, kSweepOption);
    const bool sweeps_kernels = sweep.field.find("kernels") != std::string::npos;
    changed.job.attention_stated = job.attention_stated || sweeps_kernels;
    sweep.points.push_back(
        {.value = value, .job = changed.job, .devices_idle = 0, .best = {}, .refused = {}});
  }
  return sweep;
}

void tune_sweep_values(TuneSweep& sweep,
                       const std::function<TuneResult(const plan::Job&)>& search) {
  for (TuneSweepPoint& point : sweep.points) {
    try {
      TuneResult result = search(point.job);
      point.job = std::move(result.job);
      point.devices_idle = result.devices_idle;
      point.best = std::move(result.plans.front());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kRuntime) throw;
      point.refused = error.what();
    }
  }
}

Json sweep_json(const TuneSweep& sweep, const std::optional<TrainingLengthAndPrice>& run) {
  Json list = Json::array();
  for (const TuneSweepPoint& point : sweep.points) {
    Json& entry = list.emplace_back(Json{{"value", value_json(point.value)}});
    if (!point.best) {
      entry["refused"] = point.refused;
      continue;
    }
    entry["plan"] = plan::plan_json({point.job, point.best->plan});
    entry["fits"] = point.best->fits;
    entry["verdict"] = name_of(memory::kFitVerdictNames, point.best->verdict);
    entry["step_time_s"] = point.best->step_time_s;
    entry["mfu"] =
        simulate::model_flops_efficiency(point.job, point.best->plan, point.best->step_time_s).mfu;
    if (run) add_training_run_cost_json(entry, point.job, point.devices_idle, *run);
  }
  return list;
}

}  // namespace stepwright::tune
