#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "stepwright/transport/reduction.h"

namespace stepwright::process_group {

/// A reduction as the library knows it, or nothing if it does not.
struct KnownReduction {
  transport::Reduction reduction;
  std::optional<double> factor;
  bool average = false;
};
/// The element type; nullopt for types that cannot be summed.
std::optional<transport::ElementType> element_type(at::ScalarType type);
/// The reduction of tensors of a type.
std::optional<KnownReduction> known_reduction(const c10d::ReduceOp& op, at::ScalarType type);

/// Name of a reduction: "sum", "average", ...
const char* reduction_name(const c10d::ReduceOp& op);

}  // namespace stepwright::process_group
