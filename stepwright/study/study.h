#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// One axis of a chart.
struct ChartAxis {
  std::string title;
  std::string (*label)(double) = nullptr;  ///< A value for people.
};

struct ChartPoint {
  double x = 0;
  double y = 0;
};

/// Points under one name.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

/// Curves over one variable.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
};

/// One picture of a study; `key` names it in files.
struct Panel {
  std::string key;
  Chart chart;
};

/// How one of the two driving variables of a step's analytical time depends on what a person can
/// choose, around one plan.
struct Study {
  std::string variable;  ///< The variable: "utilization" or "bandwidth".
  plan::PlannedJob planned;
  std::vector<Panel> panels;
};

/// GPU utilisation (FLOPs over time and peak rate of the job's precision) of one layer's matrix
/// products, of its attention and of all its computation, forward and backward, over the hidden
/// size (whole multiples of the model's own, head dimension kept), the micro-batch, the tensor size
/// and the sequence length; and, over the same, the share of the step in which each kind of
/// communication is exposed (`exposed_shares`).
Study study_utilization(const plan::PlannedJob& planned);

/// Effective bandwidth (busbw as nccl-tests define it) of each operation over the message size,
/// inside a node and between nodes; over the placement of a group; over the number of groups that
/// use a node's NICs at once; and the exposed shares of the step over the rate of a NIC.
Study study_bandwidth(const plan::PlannedJob& planned);

/// A label of an axis of counts.
std::string whole_number(double value);

/// One variation of a plan, at `x` of a study's axis.
struct Variation {
  double x = 0;
  plan::PlannedJob planned;
};

/// The share of the step time in which each kind of communication is exposed, by simulation. Plans
/// that are not legal or not covered are left out, kinds that are never exposed too.
Panel exposed_shares(const std::string& key, const ChartAxis& x,
                     const std::vector<Variation>& variations);

/// The answer of `stepwright study --json` (docs/formats.md, "Study").
nlohmann::ordered_json study_json(const Study& study);

}  // namespace stepwright::study
