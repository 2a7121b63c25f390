#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// An axis of a chart: its title, and a function that turns its values into text.
struct ChartAxis {
  std::string title;
  std::string (*label)(double) = nullptr;  ///< Function that turns a value of the axis into text.
};

struct ChartPoint {
  double x = 0;
  double y = 0;
};

/// A curve of a chart: its name and points.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

/// A chart with several curves over one x-axis.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
};

/// A chart of a study, with the name (`key`) under which files contain it.
struct KeyedStudyChart {
  std::string key;
  Chart chart;
};

/// Charts that show how GPU utilisation or effective bandwidth depends on choices of the plan or
/// job, varied around one plan.
struct StudyCharts {
  std::string variable;  ///< Quantity that the charts show: "utilization" or "bandwidth".
  plan::PlannedJob planned;
  std::vector<KeyedStudyChart> panels;
};

/// Computes charts of GPU utilisation (FLOPs / time / peak rate) of one layer's matrix products,
/// attention and all its computation, over the hidden size, the micro-batch, the tensor-parallel
/// size and the sequence length; also charts of exposed communication over the same axes.
StudyCharts study_gpu_utilization(const plan::PlannedJob& planned);

/// Computes charts of effective bandwidth (busbw as in nccl-tests) of each collective: over the
/// message size, inside a node and between nodes; over the placement of the group; and over the
/// number of groups that share a node's NICs. A further chart shows exposed communication over the
/// NICs' rate.
StudyCharts study_collective_bandwidth(const plan::PlannedJob& planned);

/// Formats an axis value as a whole number.
std::string format_whole_number(double value);

/// A variant of a plan for a chart, and its value `x` on the x-axis.
struct ChartedPlanVariant {
  double x = 0;
  plan::PlannedJob planned;
};

/// Simulates variants of a plan and returns a chart of exposed communication: for each kind of
/// communication, the share of the step time in which it is not hidden by computation. Illegal
/// variants, and kinds that are never exposed, are left out.
KeyedStudyChart exposed_communication_chart(const std::string& key, const ChartAxis& x,
                                            const std::vector<ChartedPlanVariant>& variations);

/// Returns the JSON document that `stepwright study --json` prints (docs/formats.md, "Study").
nlohmann::ordered_json study_json(const StudyCharts& study);

}  // namespace stepwright::study
