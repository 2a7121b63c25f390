#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// The seconds of a step, and the part of them in which the step waited for its data, from one log
/// line.
struct DataTime {
  std::int64_t line = 0;
  double step_s = 0;
  double data_s = 0;
};

/// Reads step time and data time from lines of PyTorch's examples and timm ("Time 0.15 (8.01) Data
/// 0.01 (7.72)"), torchvision ("time: 0.25 data: 0.01"), mmengine and detectron2 ("time: 0.35 ...
/// data_time: 0.01"); nullopt: the line does not have both.
std::optional<DataTime> read_data_time(std::string_view line);

/// Returns a finding if steps wait for their data for at least a fifth of their time; empty: they
/// do not.
std::vector<Finding> data_findings(const std::vector<DataTime>& times, const std::string& file);

}  // namespace stepwright::diagnose
