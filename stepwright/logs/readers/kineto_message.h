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

/// Seconds of the unit of time in traces, a microsecond.
inline constexpr double kTraceUnit_s = 1e-6;

/// The message that an event of a trace describes.
struct TraceMessage {
  std::int64_t event = 0;
  std::string name;    ///< Name of the call; empty: the event has none.
  std::string kernel;  ///< Name of the kernel that runs the call.
  std::string group;   ///< Name of the process group; empty: the event has none.
  std::string ranks;   ///< Ranks: "[0, 1, 2, 3]"; long lists are cut: "[0, 1, ...]".
  std::int64_t group_size = 0;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::string type;  ///< Element type: "BFloat16", "Float", ...
  std::int64_t element_bytes = 0;
  /// False if a list of split sizes says that the members get different amounts.
  bool even = true;
  std::int64_t peer = kUnknown;  ///< Sender or receiver at the other end, as its rank in the group.
  std::int64_t external = -1;    ///< The event's `External id`; -1: none.
  /// Rows sent to each member; nullopt: all members get the same.
  std::optional<std::vector<std::int64_t>> parts;
  TimeSpan span;
  TimeSpan run{kNoTime, kNoTime};  ///< Time span in which a Gloo thread ran the call.
  auto key() const { return std::tie(name, in_elements, out_elements, group); }
};

/// Returns the time span in which an event of a trace ran.
TimeSpan span_of_event(const simdjson::dom::element& event);

/// Reads the message of an event that carries its own description, as `record_param_comms` and some
/// kernels do; absent fields are empty. `number`: the event's index in the file.
TraceMessage described_message(const simdjson::dom::element& event, std::int64_t number);

/// Reads the message of a process group's operator (`c10d::*`), whose sizes are in its arguments
/// only; nullopt if the event has no arguments.
std::optional<TraceMessage> operator_message(const simdjson::dom::element& event,
                                             std::int64_t number);

}  // namespace stepwright::logs
