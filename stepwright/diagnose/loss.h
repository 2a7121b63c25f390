#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// A loss as a line of a training log says it, with its norm where the line has one.
struct LoggedLoss {
  std::int64_t number = -1;  ///< Number of its step; negative: the line does not say it.
  std::int64_t line = 0;
  double loss = 0;             ///< May be no number, or infinite.
  std::optional<double> norm;  ///< Norm of the gradients; may be no number, or infinite.
};

/// Reads a loss of a program of `program_words`; nullopt: the line says none.
std::optional<LoggedLoss> read_loss_line(std::string_view line);

/// Finds losses and norms that are no numbers, and losses that leap above the ones before them:
/// more than 1.5 times the median of the 16 losses before, and by more than 8 mean deviations from
/// it.
std::vector<Finding> loss_findings(const std::vector<LoggedLoss>& losses, const std::string& file);

}  // namespace stepwright::diagnose
