#include "stepwright/logs/readers/c10d_operator.h"

#include <simdjson.h>

#include <algorithm>
#include <iterator>

#include "stepwright/logs/record.h"

namespace stepwright::logs {
namespace {

// Schemas of torch/csrc/distributed/c10d/Ops.cpp: outputs come first.
constexpr std::string_view kOutputFirst[] = {"c10d::_allgather_base_",
                                             "c10d::allgather_into_tensor_coalesced_",
                                             "c10d::allgather_",
                                             "c10d::allgather_coalesced_",
                                             "c10d::_reduce_scatter_base_",
                                             "c10d::reduce_scatter_tensor_coalesced_",
                                             "c10d::reduce_scatter_",
                                             "c10d::alltoall_base_",
                                             "c10d::alltoall_",
                                             "c10d::gather_",
                                             "c10d::scatter_"};

}  // namespace

C10dBufferArguments c10d_buffers(std::string_view operator_name) {
  const bool two = std::ranges::find(kOutputFirst, operator_name) != std::end(kOutputFirst);
  return {.out = 0, .in = two ? std::size_t{1} : 0};
}

std::int64_t elements_of_shape(const simdjson::dom::element& shape) {
  simdjson::dom::array list;
  if (shape.get(list) != simdjson::SUCCESS) return 0;
  std::int64_t product = 1;
  std::int64_t sum = 0;
  bool nested = false;
  for (const simdjson::dom::element item : list) {
    std::int64_t size = 0;
    if (item.get(size) == simdjson::SUCCESS) {
      if (size < 0 || __builtin_mul_overflow(product, size, &product)) return kUnknown;
    } else {
      nested = true;
      const std::int64_t inner = elements_of_shape(item);
      if (inner == kUnknown || __builtin_add_overflow(sum, inner, &sum)) return kUnknown;
    }
  }
  return nested ? sum : product;
}

}  // namespace stepwright::logs
