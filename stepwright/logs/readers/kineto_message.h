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

/// Traces count in microseconds.
inline constexpr double kTraceUnit_s = 1e-6;

/// The message of an event.
struct TraceMessage {
  std::int64_t event = 0;
  std::string name;    ///< Name of the call; empty: not said.
  std::string kernel;  ///< Kernel that runs the call.
  std::string group;   ///< Name of the process group; empty: not said.
  std::string ranks;   ///< "[0, 1, 2, 3]"; long lists are cut: "[0, 1, ...]".
  std::int64_t group_size = 0;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::string type;  ///< Type of the elements: "BFloat16", "Float", ...
  std::int64_t element_bytes = 0;
  bool even = true;              ///< No list of split sizes says that parts differ.
  std::int64_t peer = kUnknown;  ///< Other side, by its rank in the group.
  std::int64_t external = -1;    ///< The event's `External id`.
  std::optional<std::vector<std::int64_t>> parts;  ///< Rows to each member; empty: all alike.
  TimeSpan span;
  TimeSpan run{kNoTime, kNoTime};  ///< Span in which a thread of Gloo ran it.
  auto key() const { return std::tie(name, in_elements, out_elements, group); }
};

/// When an event of a trace ran.
TimeSpan span_of_event(const simdjson::dom::element& event);

/// A call or a kernel that says its message itself, as `record_param_comms` does; what it does not
/// say is empty.
TraceMessage described_message(const simdjson::dom::element& event, std::int64_t number);

/// A call of a process group (`c10d::*`) that has its sizes in its arguments alone; nothing without
/// arguments.
std::optional<TraceMessage> operator_message(const simdjson::dom::element& event,
                                             std::int64_t number);

}  // namespace stepwright::logs
