#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// The values of every dimension of a job's search space: the values that the job lists, or every
/// value that can be legal. No value occurs twice in a list. Only the list of data degrees may be
/// empty: the degree then follows from the number of devices.
struct SearchSpaceDimensions : plan::TunerSearchSpace {
  /// Rules of the job's framework, which limit the values of each dimension; nullopt: no framework.
  std::optional<plan::FrameworkSupport> framework;

  /// Returns the size of the search space: the product of the numbers of values of all dimensions,
  /// capped at the largest `std::int64_t`.
  [[nodiscard]] std::int64_t combination_count() const;
};

/// Returns the search space of a job: the values of each dimension. Fails with `kInput` if a list
/// holds a size below 1.
SearchSpaceDimensions search_space_dimensions(const plan::Job& job);

/// Returns the product of two counts of at least 0, capped at the largest value instead of
/// overflowing.
std::int64_t overflow_capped_product(std::int64_t a, std::int64_t b);
std::int64_t plus(std::int64_t a, std::int64_t b);

}  // namespace stepwright::tune
