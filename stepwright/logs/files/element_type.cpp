#include "stepwright/logs/files/element_type.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "stepwright/logs/record.h"

namespace stepwright::logs {
namespace {

struct TypeBytes {
  std::string_view name;
  std::int64_t bytes;
};

constexpr TypeBytes kTorchTypes[] = {{"Float", 4},
                                     {"float", 4},
                                     {"BFloat16", 2},
                                     {"Half", 2},
                                     {"Double", 8},
                                     {"double", 8},
                                     {"Long", 8},
                                     {"long", 8},
                                     {"long int", 8},
                                     {"Int", 4},
                                     {"int", 4},
                                     {"Short", 2},
                                     {"short", 2},
                                     {"short int", 2},
                                     {"Char", 1},
                                     {"signed char", 1},
                                     {"Byte", 1},
                                     {"unsigned char", 1},
                                     {"Bool", 1},
                                     {"bool", 1},
                                     {"UInt16", 2},
                                     {"UInt32", 4},
                                     {"UInt64", 8},
                                     {"Float8_e4m3fn", 1},
                                     {"Float8_e5m2", 1},
                                     {"Float8_e4m3fnuz", 1},
                                     {"Float8_e5m2fnuz", 1},
                                     {"Float8_e8m0fnu", 1},
                                     {"ComplexHalf", 4},
                                     {"ComplexFloat", 8},
                                     {"ComplexDouble", 16}};

// nccl.h, ncclDataType_t.
constexpr TypeBytes kNcclTypes[] = {{"int8", 1},     {"uint8", 1},      {"int32", 4},
                                    {"uint32", 4},   {"int64", 8},      {"uint64", 8},
                                    {"float16", 2},  {"float32", 4},    {"float64", 8},
                                    {"bfloat16", 2}, {"float8e4m3", 1}, {"float8e5m2", 1}};

constexpr TypeBytes kNcclNicknames[] = {{"char", 1},     {"int", 4},    {"half", 2},
                                        {"float", 4},    {"double", 8}, {"fp8_e4m3", 1},
                                        {"fp8_e5m2", 1}, {"f8e4m3", 1}, {"f8e5m2", 1}};

template <std::size_t kCount>
std::int64_t bytes_of(const TypeBytes (&table)[kCount], std::string_view name) {
  const auto* found = std::ranges::find(table, name, &TypeBytes::name);
  return found == std::end(table) ? 0 : found->bytes;
}

}  // namespace

std::int64_t torch_type_bytes(std::string_view name) {
  for (const std::string_view prefix : {"c10::", "at::", "torch."}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  const std::int64_t bytes = bytes_of(kTorchTypes, name);
  return bytes > 0 ? bytes : bytes_of(kNcclTypes, name);
}

std::int64_t nccl_type_bytes(std::int64_t number) {
  if (number < 0 || number >= std::ssize(kNcclTypes)) return 0;
  return kNcclTypes[number].bytes;
}

std::int64_t nccl_type_bytes(std::string_view name) {
  if (name.starts_with("nccl")) name.remove_prefix(4);
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::int64_t bytes = bytes_of(kNcclTypes, lower);
  return bytes > 0 ? bytes : bytes_of(kNcclNicknames, lower);
}

std::int64_t buffer_bytes(std::int64_t elements, std::int64_t element_bytes) {
  constexpr std::int64_t kLargestBuffer = std::int64_t{8} << 40;
  if (elements < 0 || element_bytes < 1 || elements > kLargestBuffer / element_bytes) {
    return kUnknown;
  }
  return elements * element_bytes;
}

}  // namespace stepwright::logs
