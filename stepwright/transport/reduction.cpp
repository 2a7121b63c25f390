#include "stepwright/transport/reduction.h"

#include <cassert>
#include <type_traits>

#include "stepwright/transport/half.h"

namespace stepwright::transport {
namespace {

/// Returns an element in the type in which it is calculated.
template <typename T>
auto widened(T element) {
  if constexpr (std::is_arithmetic_v<T>) {
    return element;
  } else {
    return element.value();
  }
}

template <typename T, typename Wide>
T narrowed(Wide value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return T::from_float(static_cast<float>(value));
  }
}

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(
          static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
    } else {
      return a + b;
    }
  }
};

struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <typename T, typename Op>
void combine_apart(T* __restrict target, const T* __restrict incoming, const T* __restrict own,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    target[i] = narrowed<T>(Op()(widened(incoming[i]), widened(own[i])));
  }
}

template <typename T, typename Op>
void combine_into(T* __restrict target, const T* __restrict incoming, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    target[i] = narrowed<T>(Op()(widened(incoming[i]), widened(target[i])));
  }
}

/// Calls `act` with a null pointer to the C++ type of `type`.
template <typename Act>
void with_type(ReductionElementType type, Act act) {
  switch (type) {
    case ReductionElementType::kFloat64: return act(static_cast<double*>(nullptr));
    case ReductionElementType::kFloat32: return act(static_cast<float*>(nullptr));
    case ReductionElementType::kFloat16: return act(static_cast<Float16*>(nullptr));
    case ReductionElementType::kBfloat16: return act(static_cast<Bfloat16*>(nullptr));
    case ReductionElementType::kInt64: return act(static_cast<std::int64_t*>(nullptr));
    case ReductionElementType::kInt32: return act(static_cast<std::int32_t*>(nullptr));
    case ReductionElementType::kInt16: return act(static_cast<std::int16_t*>(nullptr));
    case ReductionElementType::kInt8: return act(static_cast<std::int8_t*>(nullptr));
    case ReductionElementType::kUint8: return act(static_cast<std::uint8_t*>(nullptr));
  }
}

template <typename T, typename Op>
void combine_as(std::span<std::byte> target, std::span<const std::byte> incoming,
                std::span<const std::byte> own) {
  auto* to = reinterpret_cast<T*>(target.data());
  const auto* from = reinterpret_cast<const T*>(incoming.data());
  const std::size_t count = target.size() / sizeof(T);
  if (target.data() == own.data()) {
    combine_into<T, Op>(to, from, count);
  } else {
    combine_apart<T, Op>(to, from, reinterpret_cast<const T*>(own.data()), count);
  }
}

template <typename Act>
void change(ReductionElementType type, std::span<std::byte> elements, Act act) {
  assert(is_floating_point_type(type));
  with_type(type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    auto* values = reinterpret_cast<T*>(elements.data());
    for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) {
      using Wide = decltype(widened(values[i]));
      values[i] = narrowed<T>(act(static_cast<Wide>(widened(values[i]))));
    }
  });
}

}  // namespace

std::int64_t element_bytes(ReductionElementType type) {
  std::int64_t bytes = 0;
  with_type(type, [&](auto* tag) { bytes = sizeof(*tag); });
  return bytes;
}

bool is_floating_point_type(ReductionElementType type) {
  return type <= ReductionElementType::kBfloat16;
}

void combine_elements(const CollectiveReduction& reduction, std::span<std::byte> target,
                      std::span<const std::byte> incoming, std::span<const std::byte> own) {
  assert(target.size() == incoming.size() && target.size() == own.size());
  with_type(reduction.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    switch (reduction.kind) {
      case ReduceKind::kSum: return combine_as<T, Sum>(target, incoming, own);
      case ReduceKind::kMin: return combine_as<T, Min>(target, incoming, own);
      case ReduceKind::kMax: return combine_as<T, Max>(target, incoming, own);
    }
  });
}

void multiply_elements(ReductionElementType type, std::span<std::byte> elements, double factor) {
  change(type, elements,
         [factor](auto value) { return value * static_cast<decltype(value)>(factor); });
}

void divide_elements(ReductionElementType type, std::span<std::byte> elements, double divisor) {
  change(type, elements,
         [divisor](auto value) { return value / static_cast<decltype(value)>(divisor); });
}

}  // namespace stepwright::transport
