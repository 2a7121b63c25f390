#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// A loss, with the gradient norm if it is printed too, from one line of a training log.
struct LoggedLoss {
  std::int64_t number = -1;  ///< Number of the step; negative: the line has none.
  std::int64_t line = 0;
  double loss = 0;             ///< The loss; NaN and infinity are possible.
  std::optional<double> norm;  ///< Norm of the gradients; NaN and infinity are possible.
};

/// Reads a loss from a line of one of the programs in `program_words`; nullopt: the line has none.
std::optional<LoggedLoss> read_loss_line(std::string_view line);

/// Finds losses and norms that are not numbers, and losses that jump: above 1.5 times the median of
/// the 16 losses before, and more than 8 mean deviations above it.
std::vector<Finding> loss_findings(const std::vector<LoggedLoss>& losses, const std::string& file);

}  // namespace stepwright::diagnose
