#include "stepwright/logs/readers/kineto_message.h"

#include <simdjson.h>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/readers/c10d_operator.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

using ArgumentList = simdjson::dom::element;

std::string_view type_of_argument(const ArgumentList& args, std::size_t index) {
  std::string_view type;
  return args["Input type"].at(index).get(type) == simdjson::SUCCESS ? type : std::string_view();
}

/// Returns the number of elements of an argument that is a tensor or a list of tensors; lists of
/// lists have no sizes.
std::int64_t elements_of_argument(const ArgumentList& args, std::size_t index) {
  simdjson::dom::element dims;
  if (type_of_argument(args, index).empty()) return 0;
  if (args["Input Dims"].at(index).get(dims) != simdjson::SUCCESS) return 0;
  return elements_of_shape(dims);
}

/// Returns the value of an argument as text; empty if the trace does not have it.
std::string_view spelt_argument(const ArgumentList& args, std::size_t index) {
  std::string_view spelt;
  return args["Concrete Inputs"].at(index).get(spelt) == simdjson::SUCCESS ? spelt
                                                                           : std::string_view();
}

bool has_no_parts(std::string_view split) { return split.empty() || split == "[]"; }

}  // namespace

TimeSpan trace_event_time_span(const simdjson::dom::element& event) {
  const double begin = number_in(event, "ts").value_or(kNoTime) * kKinetoTimeUnitSeconds;
  return {begin, begin + number_in(event, "dur").value_or(0) * kKinetoTimeUnitSeconds};
}

TraceCommunicationCall read_self_described_trace_call(const simdjson::dom::element& event,
                                                      std::int64_t number) {
  TraceCommunicationCall message{.event = number,
                                 .kernel = std::string(json_text_field(event, "name")),
                                 .span = trace_event_time_span(event)};
  simdjson::dom::element args;
  if (event["args"].get(args) != simdjson::SUCCESS) return message;
  message.name = json_text_field(args, "Collective name");
  message.group = json_text_field(args, "Process Group Name");
  message.ranks = json_field_as_written(args, "Process Group Ranks");
  message.group_size = json_rank_number_field(args, "Group size").value_or(0);
  message.in_elements = json_integer_field(args, "In msg nelems").value_or(0);
  message.out_elements = json_integer_field(args, "Out msg nelems").value_or(0);
  message.type = json_text_field(args, "dtype");
  message.element_bytes = torch_type_bytes(message.type);
  message.peer = json_integer_field(args, "Dst Rank").value_or(kUnknown);
  if (message.peer < 0) message.peer = json_integer_field(args, "Src Rank").value_or(kUnknown);
  message.external = json_integer_field(args, "External id").value_or(-1);
  const std::string split = json_field_as_written(args, "In split size");
  message.parts = integers_of(split);
  message.even = has_no_parts(split) && has_no_parts(json_field_as_written(args, "Out split size"));
  return message;
}

std::optional<TraceCommunicationCall> read_c10d_operator_call(const simdjson::dom::element& event,
                                                              std::int64_t number) {
  simdjson::dom::element args;
  if (event["args"].get(args) != simdjson::SUCCESS) return std::nullopt;
  TraceCommunicationCall message{.event = number,
                                 .name = std::string(json_text_field(event, "name")),
                                 .span = trace_event_time_span(event)};
  const auto [out, in] = c10d_buffers(message.name);
  message.out_elements = elements_of_argument(args, out);
  message.in_elements = elements_of_argument(args, in);
  message.element_bytes = torch_type_bytes(type_of_argument(args, in));
  if (const auto call = operation_of_torch_call(message.name); call && is_point_to_point(*call)) {
    message.peer = parse_whole_number(spelt_argument(args, 2)).value_or(kUnknown);
  }
  if (message.name == "c10d::alltoall_base_") {
    message.parts = integers_of(spelt_argument(args, 4));
  }
  return message;
}

}  // namespace stepwright::logs
