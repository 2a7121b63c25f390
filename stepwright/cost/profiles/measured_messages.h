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

/// By message size, the ratio of measured time to the law's time, in groups of one shape.
struct ShapeCurve {
  SocketGroup group;
  /// Bytes of the full buffer, ascending, with the ratio.
  std::vector<std::pair<double, double>> factors;
};

/// Returns the ratio for a message: interpolated linearly over the logarithm of its bytes; beyond
/// the sampled sizes, the nearest sample's; 1 in groups that were not sampled.
double measured_time_factor(const std::vector<ShapeCurve>& curves, const SocketGroup& group,
                            double bytes);

/// A law, with its ratios to the measured times where it was sampled.
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

  /// Returns the time of a message by a schedule's algorithm (`method`), or by c10d's Gloo
  /// (nullopt). Returns nullopt if no such message was sampled.
  [[nodiscard]] std::optional<OperatorTime> time(std::optional<collective::Algorithm> method,
                                                 collective::Collective collective,
                                                 double payload_bytes,
                                                 const SocketGroup& group) const;
  [[nodiscard]] bool any() const;
};

/// Returns the algorithm that the process group runs as a schedule in a group whose plan names one;
/// nullopt where the group stays with c10d's Gloo.
std::optional<collective::Algorithm> scheduled_method(collective::Algorithm algorithm,
                                                      collective::Collective collective,
                                                      const SocketGroup& group);

/// Name, in tables and files, of the library of c10d's Gloo messages; other names there are those
/// of algorithms.
inline constexpr std::string_view kGlooLibrary = "gloo";

/// Upper limits in measured profiles and in the tables from which they are fitted: nodes, ranks or
/// groups (`kMostMeasuredRanks`), and bytes.
inline constexpr double kMostMeasuredRanks = 1e6;
inline constexpr double kMostMeasuredBytes = 1e18;

/// Reads one entry of a profile's `messages` into `messages`. Fails with `kInput`, naming field and
/// value.
void read_messages(Node entry, MeasuredMessages& messages);

/// Returns a law as an entry of `messages`; fields on which the law does not depend are left out.
nlohmann::ordered_json message_law_json(collective::Collective collective,
                                        const SampledLaw<SocketLaw>& law);
nlohmann::ordered_json message_law_json(collective::Algorithm method,
                                        collective::Collective collective,
                                        const SampledLaw<ScheduleLaw>& law);

}  // namespace stepwright::cost
