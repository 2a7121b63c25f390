#pragma once

#include <cstdint>

namespace stepwright::cost {

/// The links that a message uses; messages of one class on one rank share these links.
enum class LinkClass : std::uint8_t { kNone, kInside, kNetwork };
inline constexpr int kLinkClasses = 3;

/// Seconds of one operator when nothing else runs beside it.
struct OperatorTime {
  double seconds = 0;
  /// Class of the slowest link that a message uses; kNone for computation.
  LinkClass link = LinkClass::kNone;
};

}  // namespace stepwright::cost
