#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// The values of every dimension of a job's search space: what the job lists, or every value that
/// can be legal. No value stands twice in a list, and no list is empty but that of data, which then
/// follows from the number of devices.
struct Dimensions : plan::Space {
  std::optional<plan::FrameworkLaw> framework;  ///< Framework that bounds the lists, if any.

  /// Points of the product; at most the largest `std::int64_t`.
  [[nodiscard]] std::int64_t total() const;
};

/// Fails with `kInput` when a list holds a size below 1.
Dimensions dimensions(const plan::Job& job);

/// Products that stop at the largest value instead of running over.
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t plus(std::int64_t a, std::int64_t b);

}  // namespace stepwright::tune
