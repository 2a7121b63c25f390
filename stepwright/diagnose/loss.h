#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Loss of a training step, from one log line, with the gradient norm if that is printed, too.
struct LoggedLoss {
  std::int64_t number = -1;  ///< Number of the training step; negative: the line does not have it.
  std::int64_t line = 0;
  double loss = 0;  ///< Loss of the step; may be NaN or infinite.
  /// Gradient norm of the step; may be NaN or infinite; nullopt: the line does not have it.
  std::optional<double> norm;
};

/// Reads the loss of a training step from a log line of a known training program; nullopt: the line
/// has no loss.
std::optional<LoggedLoss> read_loss_line(std::string_view line);

/// Finds losses and gradient norms that are not numbers, and losses that jump: above 1.5 times the
/// median of the 16 losses before, and more than 8 mean deviations above it.
std::vector<FaultFinding> loss_anomaly_findings(const std::vector<LoggedLoss>& losses,
                                                const std::string& file);

}  // namespace stepwright::diagnose
