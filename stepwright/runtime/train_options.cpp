#include "stepwright/runtime/train_options.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepwright::runtime {

double learning_rate(const TrainOptions& options, std::int64_t step) {
  if (step < options.warmup_steps) {
    return options.learning_rate * static_cast<double>(step + 1) /
           static_cast<double>(options.warmup_steps);
  }
  if (options.decay == "constant") return options.learning_rate;
  const auto span =
      static_cast<double>(std::max<std::int64_t>(1, options.steps - 1 - options.warmup_steps));
  const double along = std::min(1.0, static_cast<double>(step - options.warmup_steps) / span);
  const double left =
      options.decay == "linear" ? 1 - along : (1 + std::cos(std::numbers::pi * along)) / 2;
  return options.least_learning_rate + left * (options.learning_rate - options.least_learning_rate);
}

}  // namespace stepwright::runtime
