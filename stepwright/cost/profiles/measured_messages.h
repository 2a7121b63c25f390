#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/cost/laws/collective_constants.h"
#include "stepwright/cost/laws/schedule_law.h"
#include "stepwright/cost/laws/socket_law.h"

namespace stepwright::cost {

/// How many times as long as by its law messages took in groups of one shape.
struct ShapeCurve {
  SocketGroup group;
  std::vector<std::pair<double, double>> factors;  ///< Bytes of the full buffer, ascending; factor.
};

/// The factor of a message: straight over the logarithm of its bytes, beyond the sampled ones that
/// of the nearest; 1 in groups that were not sampled.
double factor_of(const std::vector<ShapeCurve>& curves, const SocketGroup& group, double bytes);

/// A law, and what it missed where it was sampled.
template <class Law>
struct SampledLaw {
  Law law;
  std::vector<ShapeCurve> curves;
};

/// The costs of messages that were sampled on the cluster itself.
struct MeasuredMessages {
  std::array<std::optional<SampledLaw<SocketLaw>>, kCollectives> gloo;
  std::map<std::pair<collective::Algorithm, collective::Collective>, SampledLaw<ScheduleLaw>>
      schedules;

  /// A message by a schedule's method, or by c10d's Gloo. Nothing if none was sampled.
  [[nodiscard]] std::optional<OperatorTime> time(std::optional<collective::Algorithm> method,
                                                 collective::Collective collective,
                                                 double payload_bytes,
                                                 const SocketGroup& group) const;
  [[nodiscard]] bool any() const;
};

/// The algorithm that the process group runs as a schedule in a group whose plan names one; none
/// where it stays with c10d's Gloo.
std::optional<collective::Algorithm> scheduled_method(collective::Algorithm algorithm,
                                                      collective::Collective collective,
                                                      const SocketGroup& group);

/// The word of the library in tables and files whose messages are c10d's Gloo; others are names of
/// methods.
inline constexpr std::string_view kGlooLibrary = "gloo";

/// The most nodes, ranks or groups, and the most bytes, in measured profiles and in the tables from
/// which they are fitted.
inline constexpr double kMostMeasuredRanks = 1e6;
inline constexpr double kMostMeasuredBytes = 1e18;

/// Adds one entry of a profile's `messages`. Fails with `kInput`, naming field and value.
void read_messages(Node entry, MeasuredMessages& messages);

/// A law as such an entry has it; what it does not depend on is left out.
nlohmann::ordered_json message_law_json(collective::Collective collective,
                                        const SampledLaw<SocketLaw>& law);
nlohmann::ordered_json message_law_json(collective::Algorithm method,
                                        collective::Collective collective,
                                        const SampledLaw<ScheduleLaw>& law);

}  // namespace stepwright::cost
