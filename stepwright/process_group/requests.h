#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "stepwright/transport/reduction.h"

namespace stepwright::process_group {

/// A reduction of c10d, translated for the transport.
struct KnownReduction {
  transport::Reduction reduction;
  std::optional<double> factor;
  bool average = false;
};
/// Returns the element type of a tensor type; nullopt for types that cannot be summed.
std::optional<transport::ElementType> element_type(at::ScalarType type);
/// Returns the reduction `op` of tensors of a type; nullopt if the transport does not have it.
std::optional<KnownReduction> known_reduction(const c10d::ReduceOp& op, at::ScalarType type);

/// Returns the name of a reduction: "sum", "average", ...
const char* reduction_name(const c10d::ReduceOp& op);

}  // namespace stepwright::process_group
