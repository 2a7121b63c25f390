#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Returns the column indices of the `count` largest values of each row, largest first: [rows,
/// count]. Of equal values, the one with the lower index comes first.
at::Tensor top_k_indices_of_rows(const at::Tensor& values, std::int64_t count);

}  // namespace stepwright::runtime
