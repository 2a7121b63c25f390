#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// The `count` largest of each row in descending order, of equal ones the first: [rows, count].
at::Tensor largest_of_rows(const at::Tensor& values, std::int64_t count);

}  // namespace stepwright::runtime
