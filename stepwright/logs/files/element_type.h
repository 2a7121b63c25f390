#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright::logs {

/// Bytes of an element by the names of PyTorch's types, as profilers and recorders spell them
/// ("Float", "float", "c10::BFloat16", "long int", ...); 0: unknown.
std::int64_t torch_type_bytes(std::string_view name);

/// Bytes of an element of NCCL's types by number (`ncclDataType_t`); 0: unknown.
std::int64_t nccl_type_bytes(std::int64_t number);

/// Bytes of a type by its name: "ncclFloat32", "float32".
std::int64_t nccl_type_bytes(std::string_view name);

/// The product of elements and bytes; `kUnknown` when either is, or the product is no size of a
/// buffer (more than 8 TiB).
std::int64_t buffer_bytes(std::int64_t elements, std::int64_t element_bytes);

}  // namespace stepwright::logs
