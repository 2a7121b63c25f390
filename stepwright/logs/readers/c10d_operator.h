#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simdjson::dom {
class element;
}

namespace stepwright::logs {

/// Indices of the output and input tensors among the arguments of a PyTorch operator `c10d::*`;
/// equal for in-place calls.
struct C10dBufferArguments {
  std::size_t out = 0;
  std::size_t in = 0;
};
C10dBufferArguments c10d_buffers(std::string_view operator_name);

/// Returns the number of elements of an operator's argument, from its JSON shape: of one tensor, or
/// of all tensors of a (nested) list together; `kUnknown` if the shape is invalid.
std::int64_t elements_of_shape(const simdjson::dom::element& shape);

}  // namespace stepwright::logs
