#include "stepwright/cli/traffic_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/sweep.h"

namespace stepwright::cli {
namespace {

double sent_bytes_of(const TrafficPoint& point) {
  double sum = 0;
  for (const auto& [scheme, volume] : point.schemes) sum += volume.sent_bytes;
  return sum;
}

double bytes_per_token(const TrafficPoint& point) {
  return sent_bytes_of(point) / (point.tokens_per_s * point.step_time_s);
}

TrafficPoint traffic_point(const plan::PlannedJob& planned, std::string value) {
  TrafficPoint point{.value = std::move(value)};
  if (const auto refused = plan::illegal(planned.job, planned.plan)) {
    point.refused = refused->message;
    return point;
  }
  const simulate::Prediction prediction = simulate::predict(planned);
  const plan::Grid grid(planned.plan);
  point.schemes = traffic::totals(traffic::ledger(
      prediction.program, std::nullopt, grid, {&planned.job.cluster, planned.plan.collectives}));
  point.step_time_s = prediction.simulation.step_time_s;
  point.tokens_per_s =
      prediction.tokens_per_s_per_device * static_cast<double>(planned.job.cluster.devices());
  return point;
}

}  // namespace

TrafficSweep sweep_traffic(const plan::PlannedJob& planned, const std::string& text) {
  const tune::SweptField swept = tune::read_swept_field(text, "batch.length=2048,4096");
  TrafficSweep sweep{.field = swept.field};
  for (const std::string& value : swept.values) {
    const plan::PlannedJob changed =
        plan::with_field(planned, sweep.field + "=" + value, "--sweep");
    sweep.points.push_back(traffic_point(changed, value));
  }
  return sweep;
}

std::string traffic_sweep_text(const TrafficSweep& sweep) {
  std::set<step::Scheme> schemes;
  double most = 0;
  for (const TrafficPoint& point : sweep.points) {
    for (const auto& [scheme, volume] : point.schemes) schemes.insert(scheme);
    if (point.refused.empty()) most = std::max(most, bytes_per_token(point));
  }
  Table table{.columns = {{sweep.field, Align::kRight}}, .rows = {}};
  for (const step::Scheme scheme : schemes) {
    table.columns.push_back({std::string(name_of(step::kSchemeNames, scheme)), Align::kRight});
  }
  for (const char* title : {"calls", "step", "tokens/s", "sent per token"}) {
    table.columns.push_back({title, Align::kRight});
  }
  table.columns.push_back({""});
  std::string refused;
  for (const TrafficPoint& point : sweep.points) {
    if (!point.refused.empty()) {
      refused += fmt::format("{}={}: {}\n", sweep.field, point.value, point.refused);
      continue;
    }
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(point.value);
    std::int64_t calls = 0;
    for (const step::Scheme scheme : schemes) {
      const auto volume = point.schemes.find(scheme);
      const bool none = volume == point.schemes.end();
      row.push_back(none ? "-" : format_bytes(volume->second.sent_bytes));
      if (!none) calls += volume->second.count;
    }
    const double bytes = bytes_per_token(point);
    row.push_back(format_count(calls));
    row.push_back(format_time(point.step_time_s));
    row.push_back(format_number(point.tokens_per_s));
    row.push_back(format_bytes(bytes));
    row.push_back(format_bar(bytes, most));
  }
  return fmt::format("\nSent by all ranks in a step, for each {}\n\n{}{}", sweep.field,
                     to_text(table), refused);
}

nlohmann::ordered_json traffic_sweep_json(const TrafficSweep& sweep) {
  auto list = nlohmann::ordered_json::array();
  for (const TrafficPoint& point : sweep.points) {
    nlohmann::ordered_json entry{{"value", point.value}};
    if (!point.refused.empty()) {
      entry["refused"] = point.refused;
      list.push_back(std::move(entry));
      continue;
    }
    for (const auto& [scheme, volume] : point.schemes) {
      entry["by_scheme"][std::string(name_of(step::kSchemeNames, scheme))] = {
          {"calls", volume.count},
          {"payload_bytes", volume.payload_bytes},
          {"sent_bytes", volume.sent_bytes}};
    }
    entry["sent_bytes_per_token"] = bytes_per_token(point);
    entry["step_time_s"] = point.step_time_s;
    entry["tokens_per_s"] = point.tokens_per_s;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace stepwright::cli
