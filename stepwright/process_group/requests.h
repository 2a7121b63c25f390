#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "stepwright/transport/reduction.h"

namespace stepwright::process_group {

/// A torch.distributed reduction (`ReduceOp`), translated to what Stepwright's transport can do.
struct TransportReduction {
  transport::CollectiveReduction reduction;
  std::optional<double> factor;
  bool average = false;
};
/// Returns the transport's element type for a tensor type; nullopt: the transport cannot add such
/// elements.
std::optional<transport::ReductionElementType> transport_element_type(at::ScalarType type);
/// Translates the reduction `op` for tensors of a type; nullopt: the transport cannot do it.
std::optional<TransportReduction> transport_reduction_of(const c10d::ReduceOp& op,
                                                         at::ScalarType type);

/// Returns the name of a torch.distributed reduction in messages: "sum", "average", ...
const char* reduction_name(const c10d::ReduceOp& op);

}  // namespace stepwright::process_group
