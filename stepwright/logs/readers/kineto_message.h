#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "stepwright/logs/readers/exposed_time.h"

namespace simdjson::dom {
class element;
}  // namespace simdjson::dom

namespace stepwright::logs {

/// Seconds per unit of time in PyTorch profiler traces (microseconds).
inline constexpr double kKinetoTimeUnitSeconds = 1e-6;

/// The communication call that an event of a PyTorch profiler trace describes.
struct TraceCommunicationCall {
  std::int64_t event = 0;
  std::string name;    ///< Name of the communication call; empty: the event has none.
  std::string kernel;  ///< Name of the kernel that runs the call.
  std::string group;   ///< Name of the process group; empty: the event has none.
  /// Ranks of the group: "[0, 1, 2, 3]"; the trace cuts long lists: "[0, 1, ...]".
  std::string ranks;
  std::int64_t group_size = 0;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::string type;  ///< Element type: "BFloat16", "Float", ...
  std::int64_t element_bytes = 0;
  /// False if a list of split sizes says that the members of the group get different amounts.
  bool even = true;
  /// Rank in the group of the other sender or receiver; `kUnknown`: none.
  std::int64_t peer = kUnknown;
  /// The event's `External id`, which links it to other events; -1: none.
  std::int64_t external = -1;
  /// Rows sent to each member of the group; nullopt: all members get the same number.
  std::optional<std::vector<std::int64_t>> parts;
  TimeSpan span;
  /// Time span in which a thread of Gloo ran the call; `kNoTime`: no such thread.
  TimeSpan run{kNoTime, kNoTime};
  auto key() const { return std::tie(name, in_elements, out_elements, group); }
};

/// Returns the time span in which an event of a trace ran.
TimeSpan trace_event_time_span(const simdjson::dom::element& event);

/// Reads the communication call of an event that carries its own description, as those of
/// `record_param_comms` and some kernels do; absent fields are empty. `number`: the event's index
/// in the file.
TraceCommunicationCall read_self_described_trace_call(const simdjson::dom::element& event,
                                                      std::int64_t number);

/// Reads the communication call of a process group's operator (`c10d::*`), whose sizes are in its
/// arguments only; nullopt if the event has no arguments.
std::optional<TraceCommunicationCall> read_c10d_operator_call(const simdjson::dom::element& event,
                                                              std::int64_t number);

}  // namespace stepwright::logs
