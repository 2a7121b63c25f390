#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/cost/laws/collective_constants.h"
#include "stepwright/cost/laws/gloo_cost_law.h"
#include "stepwright/cost/laws/scheduled_collective_law.h"

namespace stepwright::cost {

/// Measured time / time by the fitted law, by message size, for groups of one placement on nodes.
struct TimeRatioCurve {
  GroupNodePlacement group;
  /// Pairs (bytes of the whole buffer, measured time / law's time), by ascending bytes.
  std::vector<std::pair<double, double>> factors;
};

/// Returns measured time / law's time for a message: interpolated over the logarithm of its bytes;
/// outside the measured sizes, that of the nearest one; 1 if groups of this placement were not
/// measured.
double measured_time_factor(const std::vector<TimeRatioCurve>& curves,
                            const GroupNodePlacement& group, double bytes);

/// A fitted law of message times, with curves that correct it for the placements of groups that
/// were measured.
template <class FittedMessageTimeLaw>
struct SampledLaw {
  FittedMessageTimeLaw law;
  std::vector<TimeRatioCurve> curves;
};

/// Fitted costs of the messages that the user measured on their own cluster: of c10d's Gloo, and of
/// explicit schedules by algorithm.
struct MeasuredMessageLaws {
  std::array<std::optional<SampledLaw<GlooCostLaw>>, kCollectives> gloo;
  std::map<std::pair<collective::CollectiveAlgorithm, collective::CollectiveOperation>,
           SampledLaw<ScheduledCollectiveLaw>>
      schedules;

  /// Returns the time of a message by the schedule of algorithm `method`, or by c10d's Gloo if
  /// `method` is nullopt. Returns nullopt if no such message was measured.
  [[nodiscard]] std::optional<OperatorTime> measured_message_time(
      std::optional<collective::CollectiveAlgorithm> method,
      collective::CollectiveOperation collective, double payload_bytes,
      const GroupNodePlacement& group) const;
  [[nodiscard]] bool any() const;
};

/// Returns the algorithm by which the project's process group runs a collective as an explicit
/// schedule, if the plan names one for the group; nullopt: c10d's Gloo runs it.
std::optional<collective::CollectiveAlgorithm> algorithm_run_as_explicit_schedule(
    collective::CollectiveAlgorithm algorithm, collective::CollectiveOperation collective,
    const GroupNodePlacement& group);

/// Name of c10d's Gloo in the `library` column of tables and in files, where other names are
/// algorithms of explicit schedules.
inline constexpr std::string_view kGlooLibraryName = "gloo";

/// Largest number of nodes, ranks or groups in measured profiles and in the tables from which they
/// are fitted.
inline constexpr double kMaxMeasuredGroupRanks = 1e6;
/// Largest number of bytes of a message in measured profiles and in the tables from which they are
/// fitted.
inline constexpr double kMaxMeasuredMessageBytes = 1e18;

/// Reads one entry of a measured profile's `messages` list and adds it to `messages`. Fails with
/// `kInput`, naming field and value.
void read_measured_message_law(DocumentNode entry, MeasuredMessageLaws& messages);

/// Returns a fitted law of messages as an entry of a measured profile's `messages` list, without
/// the fields on which the law does not depend.
nlohmann::ordered_json message_law_json(collective::CollectiveOperation collective,
                                        const SampledLaw<GlooCostLaw>& law);
nlohmann::ordered_json message_law_json(collective::CollectiveAlgorithm method,
                                        collective::CollectiveOperation collective,
                                        const SampledLaw<ScheduledCollectiveLaw>& law);

}  // namespace stepwright::cost
