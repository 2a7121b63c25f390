#include <nlohmann/json.hpp>

#include "stepwright/plan/files.h"
#include "stepwright/study/study.h"

namespace stepwright::study {
namespace {

using Json = nlohmann::ordered_json;

Json curve_json(const ChartSeries& curve) {
  Json points = Json::array();
  for (const ChartPoint& point : curve.points) points.push_back({point.x, point.y});
  return {{"name", curve.name}, {"points", std::move(points)}};
}

}  // namespace

Json study_json(const StudyCharts& study) {
  Json out{{"variable", study.variable}, {"panels", Json::array()}};
  for (const KeyedStudyChart& panel : study.panels) {
    Json curves = Json::array();
    for (const ChartSeries& curve : panel.chart.series) curves.push_back(curve_json(curve));
    out["panels"].push_back({{"key", panel.key},
                             {"title", panel.chart.title},
                             {"x", panel.chart.x.title},
                             {"y", panel.chart.y.title},
                             {"curves", std::move(curves)}});
  }
  out["plan"] = plan::plan_json(study.planned);
  return out;
}

}  // namespace stepwright::study
