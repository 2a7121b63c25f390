#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Returns the indices of the `count` largest values of each row, in descending order, of equal
/// values the first: [rows, count].
at::Tensor largest_of_rows(const at::Tensor& values, std::int64_t count);

}  // namespace stepwright::runtime
