#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// One axis of a chart: its title, and the function that formats its values.
struct ChartAxis {
  std::string title;
  std::string (*label)(double) = nullptr;  ///< Formats a value for people.
};

struct ChartPoint {
  double x = 0;
  double y = 0;
};

/// A named curve of a chart: its points.
struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

/// A chart: several curves over one variable.
struct Chart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
};

/// One chart of a study. `key`: its name in files.
struct ChartPanel {
  std::string key;
  Chart chart;
};

/// Charts around one plan that show how one of the two main variables of a step's time (GPU
/// utilisation or bandwidth) depends on choices of the plan or job.
struct Study {
  std::string variable;  ///< Name of the variable: "utilization" or "bandwidth".
  plan::PlannedJob planned;
  std::vector<ChartPanel> panels;
};

/// Computes the charts of GPU utilisation: FLOPs divided by time and peak rate of the job's
/// precision, for one layer's matrix products, its attention and all its computation, forward and
/// backward. The x-axes are the hidden size (multiples of the model's own, with its head
/// dimension), the micro-batch, the tensor-parallel size and the sequence length. Over the same
/// axes, further charts show the share of the step in which each kind of communication is exposed
/// (`exposed_shares`).
Study study_utilization(const plan::PlannedJob& planned);

/// Computes the charts of effective bandwidth (busbw as nccl-tests define it) of each operation:
/// over the message size, inside a node and between nodes; over the placement of a group; and over
/// the number of groups that use a node's NICs at once. A further chart shows the exposed shares of
/// the step over the rate of a NIC.
Study study_bandwidth(const plan::PlannedJob& planned);

/// Formats an axis value that is a whole number.
std::string whole_number(double value);

/// A variant of a plan, and its position `x` on the axis of a study.
struct PlanVariation {
  double x = 0;
  plan::PlannedJob planned;
};

/// Simulates variants of a plan and returns the share of the step time in which each kind of
/// communication is exposed. Plans that are not legal or not supported, and kinds that are never
/// exposed, are left out.
ChartPanel exposed_shares(const std::string& key, const ChartAxis& x,
                          const std::vector<PlanVariation>& variations);

/// Returns the answer of `stepwright study --json` (docs/formats.md, "Study").
nlohmann::ordered_json study_json(const Study& study);

}  // namespace stepwright::study
