#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// The values of every dimension of a job's search space: the values that the job lists, or every
/// value that can be legal. No value occurs twice in a list. No list is empty, except that of the
/// data degree where it follows from the number of devices.
struct SpaceDimensions : plan::Space {
  /// Rules of the job's framework, which limit the lists; nullopt: no framework.
  std::optional<plan::FrameworkLaw> framework;

  /// Number of points of the product of all lists; capped at the largest `std::int64_t`.
  [[nodiscard]] std::int64_t total() const;
};

/// Returns the search space of a job. Fails with `kInput` when a list holds a size below 1.
SpaceDimensions dimensions(const plan::Job& job);

/// Product and sum that are capped at the largest value instead of overflowing.
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t plus(std::int64_t a, std::int64_t b);

}  // namespace stepwright::tune
