#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/study/study.h"

namespace stepwright::study {
namespace {

struct Kind {
  const char* name;
  double simulate::StageTimeBreakdown::* seconds;
};
constexpr Kind kKinds[] = {{"tensor", &simulate::StageTimeBreakdown::tensor_s},
                           {"context", &simulate::StageTimeBreakdown::context_s},
                           {"expert", &simulate::StageTimeBreakdown::expert_s},
                           {"pipeline", &simulate::StageTimeBreakdown::pipeline_s},
                           {"data", &simulate::StageTimeBreakdown::data_s},
                           {"host", &simulate::StageTimeBreakdown::host_s}};

std::optional<simulate::StageTimeBreakdown> breakdown_of(const plan::PlannedJob& planned) {
  try {
    const simulate::PlanPrediction prediction = simulate::predict_plan(planned);
    const auto critical = static_cast<std::size_t>(prediction.simulation.critical_stage);
    return prediction.simulation.stages[critical].breakdown;
  } catch (const Error&) {  // Not legal at this size, or no builder covers it.
    return std::nullopt;
  }
}

bool is_ever_exposed(const ChartSeries& series) {
  for (const ChartPoint& point : series.points) {
    if (point.y > 0) return true;
  }
  return false;
}

}  // namespace

std::string format_whole_number(double value) {
  return format_count(static_cast<std::int64_t>(value));
}

KeyedStudyChart exposed_communication_chart(const std::string& key, const ChartAxis& x,
                                            const std::vector<ChartedPlanVariant>& variations) {
  std::vector<ChartSeries> curves;
  for (const Kind& kind : kKinds) curves.push_back({.name = kind.name, .points = {}});
  for (const ChartedPlanVariant& variation : variations) {
    const auto breakdown = breakdown_of(variation.planned);
    if (!breakdown) continue;
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
      const double share = (*breakdown).*(kKinds[i].seconds) / breakdown->total();
      curves[i].points.push_back({variation.x, share});
    }
  }
  std::erase_if(curves, [](const ChartSeries& series) { return !is_ever_exposed(series); });
  KeyedStudyChart panel;
  panel.key = key;
  panel.chart.title = fmt::format("Exposed communication by {}", x.title);
  panel.chart.x = x;
  panel.chart.y = {"share of the step", format_percent};
  panel.chart.series = std::move(curves);
  return panel;
}

}  // namespace stepwright::study
