#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/cost/profiles/measured_messages.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Fitted time of one kind of computation on the user's device: start + FLOPs / rate + bytes /
/// rate, with FLOPs and bytes as `step/work.h` counts them.
struct ComputationTimeLaw {
  step::OperatorKind kind{};
  /// Phase of the step to which the law applies; recomputation counts as forward.
  step::Phase phase{};
  DType dtype{};
  double start_s = 0;
  double s_per_flop = 0;
  double s_per_byte = 0;

  [[nodiscard]] double seconds(double flops, double bytes) const {
    return start_s + flops * s_per_flop + bytes * s_per_byte;
  }
};

/// Largest slow-down factor that a measured profile may state, since one would be infinite if
/// computation and messages gain nothing by running side by side.
inline constexpr double kMaxMeasuredSlowdownFactor = 100;

/// Measured factors on the time of computation while a message runs inside the node, and on the
/// network; 0: not measured.
struct MeasuredOverlapSlowdown {
  double beside_inside = 0;
  double beside_network = 0;
};

/// Measured host time of a message in addition to its transfer: copies into and out of the buffer,
/// and a framework's dispatch of sharded tensors.
struct MessageHostOverheadLaw {
  step::ParallelismScheme scheme{};
  collective::CollectiveOperation operation{};
  double start_s = 0;
  double s_per_byte = 0;  ///< Host seconds per byte of the message's whole buffer.

  [[nodiscard]] double seconds(double payload_bytes) const {
    return start_s + payload_bytes * s_per_byte;
  }
};

/// All laws that were fitted to measurements on the user's own cluster: the content of a file
/// `measured/1` (docs/formats.md), which a job names under `measured`.
struct MeasuredProfile {
  std::string name;
  MeasuredMessageLaws messages;
  std::vector<MessageHostOverheadLaw> host_overhead;
  std::vector<ComputationTimeLaw> computations;
  MeasuredOverlapSlowdown overlap;

  /// Returns the measured law of a computation; null if its kind, phase or data type was not
  /// measured.
  [[nodiscard]] const ComputationTimeLaw* find(const step::Operator& op) const;
  /// Returns the host seconds of a message in addition to its transfer; 0 if messages of its scheme
  /// and operation were not measured.
  [[nodiscard]] double message_host_overhead_s(step::ParallelismScheme scheme,
                                               collective::CollectiveOperation operation,
                                               double payload_bytes) const;
  /// Returns a short list of what was measured: "messages, 23 kinds of computation, contention".
  [[nodiscard]] std::string measured_parts_text() const;
};

/// Returns the phase under which a computation was measured: forward for recomputation, else the
/// phase itself.
constexpr step::Phase phase_as_measured(step::Phase phase) {
  return phase == step::Phase::kRecompute ? step::Phase::kForward : phase;
}

/// Header line of the CSV table of message times from which a measured profile is fitted
/// (docs/formats.md, "Own samples").
inline constexpr std::string_view kMessageSampleCsvHeader =
    "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds";
/// Header line of the CSV table of computation times from which a measured profile is fitted.
inline constexpr std::string_view kComputationSampleCsvHeader =
    "operator,phase,dtype,shape,flops,memory_bytes,seconds";
/// Header line of the CSV table of computations beside messages, from which slow-down factors are
/// fitted.
inline constexpr std::string_view kOverlapSampleCsvHeader =
    "link,operation,computation,payload_bytes,seconds_computation,seconds_message,"
    "seconds_together";

/// Reads a measured profile from a file. Fails with `kInput`, naming file, field and value.
MeasuredProfile load_measured_profile(const std::filesystem::path& path);
MeasuredProfile read_measured(const YamlJsonDocument& document);

/// Returns a law of computations as an entry of a measured profile, without the fields on which the
/// law does not depend.
nlohmann::ordered_json computation_time_law_json(const ComputationTimeLaw& law);
nlohmann::ordered_json host_overhead_law_json(const MessageHostOverheadLaw& law);

}  // namespace stepwright::cost
