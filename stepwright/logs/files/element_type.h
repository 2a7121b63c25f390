#pragma once

#include <cstdint>
#include <string_view>

namespace stepwright::logs {

/// Returns the bytes of one element of a PyTorch type, in the spellings of profilers and recorders
/// ("Float", "float", "c10::BFloat16", "long int", ...); 0: unknown type.
std::int64_t torch_type_bytes(std::string_view name);

/// Returns the bytes of one element of an NCCL type, given its number (`ncclDataType_t`); 0:
/// unknown type.
std::int64_t nccl_type_bytes(std::int64_t number);

/// Returns the bytes of one element of an NCCL type, given its name ("ncclFloat32", "float32"); 0:
/// unknown type.
std::int64_t nccl_type_bytes(std::string_view name);

/// Returns `elements` times `element_bytes`, the size of a buffer in bytes; `kUnknown` if either
/// factor is unknown or the product is too large for a buffer (above 8 TiB).
std::int64_t buffer_bytes(std::int64_t elements, std::int64_t element_bytes);

}  // namespace stepwright::logs
