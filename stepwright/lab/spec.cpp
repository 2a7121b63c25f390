#include "stepwright/lab/spec.h"

#include <algorithm>
#include <cmath>

namespace stepwright::lab {

RateLimitedLink rate_limited_link(double rate_bytes_per_s) {
  // Timers fire up to 100 us late; with packets of half that time the bucket holds several.
  constexpr double kLatest = 100e-6;
  constexpr double kPacketTime = 50e-6;
  constexpr double kLeastPacket = 9000;
  constexpr double kMostPacket = 65000;
  constexpr std::int64_t kEthernetHeader = 14;
  RateLimitedLink link{.rate_bytes_per_s = rate_bytes_per_s};
  const double packet = std::clamp(rate_bytes_per_s * kPacketTime, kLeastPacket, kMostPacket);
  link.packet_bytes = static_cast<std::int64_t>(packet);
  link.burst_bytes = link.packet_bytes + kEthernetHeader + std::llround(rate_bytes_per_s * kLatest);
  return link;
}

double EmulatedClusterSpec::emulated_link_capacity_bytes_per_s() const {
  const double per_node =
      static_cast<double>(nics_per_node()) * nic.rate_bytes_per_s + inside.rate_bytes_per_s;
  return static_cast<double>(nodes) * per_node;
}

}  // namespace stepwright::lab
