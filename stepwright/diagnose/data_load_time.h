#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Duration of a training step and how long it waited for input data, in seconds, from one log
/// line.
struct StepDataLoadTime {
  std::int64_t line = 0;
  double step_s = 0;
  double data_s = 0;
};

/// Reads step time and data-loading time from a log line of PyTorch's examples and timm ("Time 0.15
/// (8.01) Data 0.01 (7.72)"), torchvision ("time: 0.25 data: 0.01"), mmengine or detectron2 ("time:
/// 0.35 ... data_time: 0.01"); nullopt: the line does not have both.
std::optional<StepDataLoadTime> parse_data_load_time(std::string_view line);

/// Returns a finding if steps wait for input data for at least a fifth of their time; empty: they
/// wait less.
std::vector<FaultFinding> slow_input_data_findings(const std::vector<StepDataLoadTime>& times,
                                                   const std::string& file);

}  // namespace stepwright::diagnose
