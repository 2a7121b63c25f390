#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/readers/c10d_operator.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

constexpr std::int64_t kWidestTraced = 64;  ///< The most bytes of an element in a trace.

/// A communication call as a node of the trace describes it.
struct HostCall {
  std::int64_t node = 0;
  std::int64_t parent = 0;
  std::string name;
  std::string group;
  std::int64_t group_size = 0;
  std::int64_t in_elements = 0;
  std::int64_t out_elements = 0;
  std::int64_t element_bytes = 0;
  std::int64_t peer = kUnknown;
  /// Rows sent to each rank; nullopt: equal numbers.
  std::optional<std::vector<std::int64_t>> parts;
};

class ExecutionTraceReader {
 public:
  ExecutionTraceReader(FileByteReader& bytes, CommunicationLog& log)
      : bytes_(bytes), writer_(log, bytes.name(), LogFormat::kExecutionTrace) {}

  void read() {
    constexpr std::string_view kLists[] = {"nodes"};
    stream_json_pieces(bytes_, kLists, [&](const JsonPiece& piece) {
      if (piece.element) {
        node(piece);
      } else if (piece.key == "schema" && piece.text.size() > 2) {
        writer_.source().version = piece.text.substr(1, piece.text.size() - 2);
      }
    });
    finish();
  }

 private:
  void node(const JsonPiece& piece) {
    ++writer_.source().lines;
    const std::string_view name = find_json_member_without_parsing(piece.text, "\"name\"");
    const bool described = name == "record_param_comms";
    const bool function = name.starts_with("_c10d_functional::");
    const bool groups = name == "## process_group:init ##";
    if (!described && !function && !groups && !name.starts_with("c10d::")) return;
    dom::element node;
    if (parser_.parse(piece.text.data(), piece.text.size(), false).get(node) != simdjson::SUCCESS) {
      return writer_.source().count_unexplained_line(piece.number, "a node that is no JSON");
    }
    if (has_duplicate_key(node)) {
      return writer_.source().count_unexplained_line(piece.number, "a node that says a key twice");
    }
    dom::element inputs = node;
    if (node["inputs"].get(inputs) != simdjson::SUCCESS && node.is_object()) inputs = node;
    if (groups) return read_groups(inputs);
    if (function) return read_function(node, inputs);
    HostCall call{.node = piece.number,
                  .parent = json_integer_field(node, "ctrl_deps").value_or(0),
                  .name = std::string(name)};
    if (described) {
      describe(node, inputs, call);
      described_.push_back(std::move(call));
    } else {
      measure(inputs, call);
      operators_.push_back(std::move(call));
    }
  }

  /// Reads the process groups from a JSON text that is a string inside the JSON.
  void read_groups(const dom::element& inputs) {
    std::string_view text;
    if (inputs["values"].at(0).get(text) != simdjson::SUCCESS) return;
    dom::parser parser;
    dom::array list;
    const std::string copy(text);
    if (parser.parse(copy).get(list) != simdjson::SUCCESS) return;
    for (const dom::element group : list) {
      std::string name(json_text_field(group, "pg_name"));
      auto ranks = listed_ranks(group, "ranks");
      const std::int64_t size =
          json_rank_number_field(group, "group_size").value_or(std::ssize(ranks));
      if (std::ssize(ranks) != size) ranks.clear();
      groups_[name] = {.name = name, .size = size, .ranks = std::move(ranks)};
    }
  }

  /// Reads the group from the last argument of a functional operator; it applies to the operator
  /// inside it.
  void read_function(const dom::element& node, const dom::element& inputs) {
    dom::array values;
    if (inputs["values"].get(values) != simdjson::SUCCESS || values.size() == 0) return;
    std::string_view group;
    if (values.at(values.size() - 1).get(group) != simdjson::SUCCESS) return;
    functions_[json_integer_field(node, "id").value_or(-1)] = std::string(group);
  }

  /// Reads a call from the attributes of a node, by name; in schemas without these, from its
  /// arguments.
  static void describe(const dom::element& node, const dom::element& inputs, HostCall& call) {
    call.name.clear();
    dom::array attributes;
    if (node["attrs"].get(attributes) == simdjson::SUCCESS) {
      for (const dom::element attribute : attributes) describe_by(attribute, call);
    }
    std::string_view text;
    if (call.name.empty() && inputs["values"].at(4).get(text) == simdjson::SUCCESS) {
      call.name = std::string(text);
    }
    if (call.group.empty() && inputs["values"].at(2).at(0).get(text) == simdjson::SUCCESS) {
      call.group = std::string(text);
    }
    std::int64_t peer = 0;
    if (inputs["values"].at(3).get(peer) == simdjson::SUCCESS) call.peer = peer;
    if (call.in_elements > 0 || call.out_elements > 0) return;
    add_tensors(inputs["values"], call.in_elements, call.element_bytes);
    add_tensors(node["outputs"]["values"], call.out_elements, call.element_bytes);
  }

  static void describe_by(const dom::element& attribute, HostCall& call) {
    const std::string_view name = json_text_field(attribute, "name");
    if (name == "collective_name") call.name = std::string(json_text_field(attribute, "value"));
    if (name == "pg_name") call.group = std::string(json_text_field(attribute, "value"));
    if (name == "dtype") call.element_bytes = torch_type_bytes(json_text_field(attribute, "value"));
    if (name == "in_msg_nelems")
      call.in_elements = json_integer_field(attribute, "value").value_or(0);
    if (name == "out_msg_nelems")
      call.out_elements = json_integer_field(attribute, "value").value_or(0);
    if (name == "in_split_size") call.parts = integers_of(json_text_field(attribute, "value"));
    if (name == "pg_size") call.group_size = json_rank_number_field(attribute, "value").value_or(0);
  }

  /// Adds up the elements of tensors in nested lists; a tensor is [id, storage, offset, elements,
  /// bytes of one, device].
  static void add_tensors(simdjson::simdjson_result<dom::element> values, std::int64_t& elements,
                          std::int64_t& element_bytes) {
    dom::array list;
    if (values.at(0).get(list) != simdjson::SUCCESS) return;
    for (const dom::element tensor : list) {
      std::int64_t count = 0;
      if (tensor.is_array() && tensor.at(3).get(count) == simdjson::SUCCESS && count > 0 &&
          !__builtin_add_overflow(elements, count, &elements)) {
        std::int64_t width = 0;
        const bool known = tensor.at(4).get(width) == simdjson::SUCCESS;
        element_bytes = known && width <= kWidestTraced ? width : 0;
      }
    }
  }

  static void measure(const dom::element& inputs, HostCall& call) {
    const auto [out, in] = c10d_buffers(call.name);
    dom::element shape;
    if (inputs["shapes"].at(out).get(shape) == simdjson::SUCCESS) {
      call.out_elements = elements_of_shape(shape);
    }
    if (inputs["shapes"].at(in).get(shape) == simdjson::SUCCESS) {
      call.in_elements = elements_of_shape(shape);
    }
    std::string_view type;  // "GenericList[Tensor(float)]"
    if (inputs["types"].at(in).get(type) == simdjson::SUCCESS) {
      const std::size_t begin = type.find("Tensor(");
      if (begin != std::string_view::npos) {
        type.remove_prefix(begin + 7);
        call.element_bytes = torch_type_bytes(type.substr(0, type.find(')')));
      }
    }
    std::int64_t peer = 0;
    if (inputs["values"].at(2).get(peer) == simdjson::SUCCESS) call.peer = peer;
    dom::element parts;
    if (call.name == "c10d::alltoall_base_" &&
        inputs["values"].at(4).get(parts) == simdjson::SUCCESS) {
      call.parts = integers_of(simdjson::to_string(parts));
    }
  }

  void finish() {
    LogFileReadResult& source = writer_.source();
    rank_ = rank_in_file_name(source.file);
    source.note(rank_ == kUnknown ? "Neither the name of the file nor the trace states the rank."
                                  : "The rank is taken from the name of the file.");
    for (const auto& [name, group] : groups_) {
      source.world = std::max(source.world, group.size);
      for (const std::int64_t rank : group.ranks) source.world = std::max(source.world, rank + 1);
    }
    std::int64_t listed = 0;
    for (auto& [name, group] : groups_) {
      listed += group.size;
      if (!group.ranks.empty() || group.size != source.world ||
          listed > kMaxCommunicatorRanksToFillIn)
        continue;
      for (std::int64_t rank = 0; rank < group.size; ++rank) group.ranks.push_back(rank);
    }
    for (HostCall& call : described_.empty() ? operators_ : described_) add(call);
  }

  void add(HostCall& call) {
    if (is_not_torch_call(call.name)) return;
    const auto operation = operation_of_torch_call(call.name);
    if (!operation) {
      return writer_.source().count_unexplained_line(
          call.node, fmt::format("an unknown operation, \"{}\"", call.name));
    }
    const std::int64_t payload = local_call_payload_bytes(*operation, call.in_elements,
                                                          call.out_elements, call.element_bytes);
    if (payload == kUnknown) {
      return writer_.source().count_unexplained_line(call.node,
                                                     "a message of no size or an unknown type");
    }
    LoggedCall record{.line = call.node,
                      .rank = rank_,
                      .payload_bytes = payload,
                      .communicator = group_of(call, *operation),
                      .operation = *operation,
                      .element_bytes = static_cast<std::uint8_t>(call.element_bytes)};
    if (is_point_to_point(*operation) && record.communicator >= 0) {
      const auto& ranks = writer_.communicator(record.communicator).ranks;
      if (call.peer >= 0 && call.peer < std::ssize(ranks)) {
        record.peer = ranks[static_cast<std::size_t>(call.peer)];
      }
    }
    if (*operation == LoggedOperation::kAllToAll && call.parts) {
      writer_.add_all_to_all_parts(record, *call.parts);
    }
    writer_.add(record);
  }

  std::int32_t group_of(HostCall& call, LoggedOperation operation) {
    if (const auto outer = functions_.find(call.parent); outer != functions_.end()) {
      call.group = outer->second;
    }
    auto known = groups_.find(call.group);
    if (known == groups_.end() && groups_.size() == 1) known = groups_.begin();
    if (known == groups_.end()) known = group_of_size(call, operation);
    if (known != groups_.end()) {
      return writer_.communicator(known->first, known->second.size, known->second.ranks);
    }
    if (call.group_size < 1) return -1;
    return writer_.communicator(fmt::format("{} of {}", call.group, call.group_size),
                                call.group_size);
  }

  using Groups = std::map<std::string, LogCommunicator>;

  /// Returns the group of a gather or scatter, whose number of ranks follows from its sizes, if
  /// exactly one group has that many.
  Groups::iterator group_of_size(HostCall& call, LoggedOperation operation) {
    if (operation != LoggedOperation::kAllGather && operation != LoggedOperation::kReduceScatter) {
      return groups_.end();
    }
    const auto [small, large] = std::minmax(call.in_elements, call.out_elements);
    if (small > 0 && large % small == 0) call.group_size = large / small;
    const auto fits = [&](const auto& group) { return group.second.size == call.group_size; };
    if (std::ranges::count_if(groups_, fits) != 1) return groups_.end();
    return std::ranges::find_if(groups_, fits);
  }

  FileByteReader& bytes_;
  LogCallCollector writer_;
  dom::parser parser_;
  std::int64_t rank_ = kUnknown;
  Groups groups_;
  /// Group of each functional operator, by the operator's id.
  std::map<std::int64_t, std::string> functions_;
  std::vector<HostCall> described_;
  std::vector<HostCall> operators_;
};

}  // namespace

void read_execution_trace(FileByteReader& bytes, CommunicationLog& log) {
  ExecutionTraceReader(bytes, log).read();
}

}  // namespace stepwright::logs
