#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simdjson::dom {
class element;
}

namespace stepwright::logs {

/// Which arguments of an operator `c10d::*` are its output and its input; the same for calls in
/// place.
struct C10dBuffers {
  std::size_t out = 0;
  std::size_t in = 0;
};
C10dBuffers c10d_buffers(std::string_view operator_name);

/// Elements of an argument's shape: of a tensor, or of all tensors of a list (of lists); `kUnknown`
/// when they are no number of elements.
std::int64_t elements_of_shape(const simdjson::dom::element& shape);

}  // namespace stepwright::logs
