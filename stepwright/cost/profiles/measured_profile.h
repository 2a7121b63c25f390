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

/// The law of one kind of computation on the measured device: start + FLOPs / rate + bytes / rate,
/// with FLOPs and bytes as `step/work.h` counts them.
struct ComputationLaw {
  step::OperatorKind kind{};
  step::Phase phase{};  ///< Phase of the computation; recomputation counts as forward.
  DType dtype{};
  double start_s = 0;
  double s_per_flop = 0;
  double s_per_byte = 0;

  [[nodiscard]] double seconds(double flops, double bytes) const {
    return start_s + flops * s_per_flop + bytes * s_per_byte;
  }
};

/// The largest slow-down factor: computation and messages that gain nothing by running side by side
/// would have an infinite one.
inline constexpr double kMaxSlowdownFactor = 100;

/// Factors on the time of computation while messages run inside the node and on the network; 0: not
/// sampled.
struct MeasuredOverlap {
  double beside_inside = 0;
  double beside_network = 0;
};

/// The host's work for a message in addition to its transfer, before or after it: copies into and
/// out of the buffer, and a framework's dispatch of tensors that are split over ranks.
struct HostOverheadLaw {
  step::Scheme scheme{};
  collective::Collective operation{};
  double start_s = 0;
  double s_per_byte = 0;  ///< Seconds of the host for each byte of the message's full buffer.

  [[nodiscard]] double seconds(double payload_bytes) const {
    return start_s + payload_bytes * s_per_byte;
  }
};

/// The laws that were fitted to measurements of the user's cluster: a file `measured/1`
/// (docs/formats.md), which a job names as `measured`.
struct MeasuredProfile {
  std::string name;
  MeasuredMessages messages;
  std::vector<HostOverheadLaw> host_overhead;
  std::vector<ComputationLaw> computations;
  MeasuredOverlap overlap;

  /// Returns the law of a computation; null when its kind, phase and type were not sampled.
  [[nodiscard]] const ComputationLaw* find(const step::Operator& op) const;
  /// Returns the seconds of the host's work for a message; 0 where its kind was not measured.
  [[nodiscard]] double host_overhead_s(step::Scheme scheme, collective::Collective operation,
                                       double payload_bytes) const;
  /// Returns what the profile has, in words: "messages, 23 kinds of computation, contention".
  [[nodiscard]] std::string contents() const;
};

/// Returns the phase whose law an operator follows: recomputation follows the forward's.
constexpr step::Phase law_phase(step::Phase phase) {
  return phase == step::Phase::kRecompute ? step::Phase::kForward : phase;
}

/// Headers of the tables from which a measured profile is fitted (docs/formats.md, "Own samples").
inline constexpr std::string_view kMessageSampleHeader =
    "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds";
inline constexpr std::string_view kComputationSampleHeader =
    "operator,phase,dtype,shape,flops,memory_bytes,seconds";
inline constexpr std::string_view kOverlapSampleHeader =
    "link,operation,computation,payload_bytes,seconds_computation,seconds_message,"
    "seconds_together";

/// Reads a measured profile. Fails with `kInput`, naming file, field and value.
MeasuredProfile load_measured(const std::filesystem::path& path);
MeasuredProfile read_measured(const Document& document);

/// Returns a law as an entry of the file; fields on which the law does not depend are left out.
nlohmann::ordered_json computation_law_json(const ComputationLaw& law);
nlohmann::ordered_json host_overhead_law_json(const HostOverheadLaw& law);

}  // namespace stepwright::cost
