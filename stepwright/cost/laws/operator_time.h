#pragma once

#include <cstdint>

namespace stepwright::cost {

/// Class of the slowest link that a message uses: links inside the node, or the network between
/// nodes; kNone: not a message. Messages of one class on one rank compete for its links.
enum class LinkClass : std::uint8_t { kNone, kInside, kNetwork };
inline constexpr int kLinkClasses = 3;

/// The seconds of one operator without other work beside it, and the link that it uses.
struct OperatorTime {
  double seconds = 0;
  /// Class of the slowest link that a message uses; kNone: the operator is a computation.
  LinkClass link = LinkClass::kNone;
};

}  // namespace stepwright::cost
