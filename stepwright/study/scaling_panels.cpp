#include <fmt/format.h>

#include <functional>

#include "stepwright/core/format.h"
#include "stepwright/cost/collective_constants.h"
#include "stepwright/study/scaling.h"

namespace stepwright {
namespace {

std::string times_as_long(double value) { return fmt::format("{:.3g}x", value); }

using PointValue = std::function<std::optional<double>(const ScalingPoint&)>;

/// Points of one operation and payload.
using ScalingRun = std::vector<ScalingPoint>;

std::vector<ScalingRun> runs_of(const ScalingStudy& study) {
  std::vector<ScalingRun> runs;
  for (const ScalingPoint& point : study.points) {
    const bool same = !runs.empty() && runs.back().front().collective == point.collective &&
                      runs.back().front().payload_bytes == point.payload_bytes;
    if (!same) runs.emplace_back();
    runs.back().push_back(point);
  }
  return runs;
}

void add_curve(Chart& chart, const ScalingRun& run, ChartSeries curve, const PointValue& value) {
  for (const ScalingPoint& point : run) {
    const auto y = value(point);
    if (y) curve.points.push_back({static_cast<double>(point.ranks), *y});
  }
  if (!curve.points.empty()) chart.series.push_back(std::move(curve));
}

/// A curve for each schedule and, dashed, for what is no schedule. `scaled` of the seconds.
Chart curves_of(const ScalingRun& run, const std::function<double(const ScalingPoint&)>& unit) {
  Chart chart;
  chart.x = {.title = "GPUs", .scale = Scale::kLogarithmic, .label = whole_number};
  for (const auto& [method, name] : kGeneratedNames) {
    add_curve(chart, run, {.name = std::string(name), .points = {}},
              [&](const ScalingPoint& point) -> std::optional<double> {
                const auto seconds = point.seconds(method);
                if (!seconds) return std::nullopt;
                return *seconds / unit(point);
              });
  }
  const auto dashed = [&](const char* name, const PointValue& seconds) {
    add_curve(chart, run, {.name = name, .points = {}, .dashed = true},
              [&](const ScalingPoint& point) -> std::optional<double> {
                const auto value = seconds(point);
                if (!value) return std::nullopt;
                return *value / unit(point);
              });
  };
  dashed("least", [](const ScalingPoint& point) { return point.least.any_s; });
  dashed("adding network", [](const ScalingPoint& point) { return point.adding_network_s; });
  dashed("adding switches", [](const ScalingPoint& point) { return point.adding_switches_s; });
  return chart;
}

}  // namespace

std::vector<Panel> scaling_panels(const ScalingStudy& study) {
  std::vector<Panel> panels;
  for (const ScalingRun& run : runs_of(study)) {
    const ScalingPoint& first = run.front();
    const std::string operation(name_of(kCollectiveNames, first.collective));
    const std::string what = fmt::format("{} of {}, {}", operation,
                                         format_bytes(first.payload_bytes), study.cluster.name);
    Chart seconds = curves_of(run, [](const ScalingPoint&) { return 1.0; });
    seconds.title = what;
    seconds.y = {.title = "time", .scale = Scale::kLogarithmic, .label = format_time};
    Chart ratios = curves_of(run, [](const ScalingPoint& point) {
      return point.seconds(Algorithm::kHoRing).value_or(1);
    });
    ratios.title = what;
    ratios.y = {
        .title = "time over the HO-Ring's", .scale = Scale::kLogarithmic, .label = times_as_long};
    const std::string key = fmt::format("{}_{:.0f}", operation, first.payload_bytes);
    panels.push_back({key, std::move(seconds)});
    panels.push_back({key + "_ratio", std::move(ratios)});
  }
  return panels;
}

}  // namespace stepwright
