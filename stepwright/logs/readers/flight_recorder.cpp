#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/readers.h"
#include "stepwright/logs/readers/recorder_entry.h"
#include "stepwright/logs/readers/torch_calls.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

/// Number of elements and type of the tensors on one side of a call.
struct DumpedTensors {
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
};

class FlightRecorderReader {
 public:
  FlightRecorderReader(FileByteReader& bytes, CommunicationLog& log)
      : bytes_(bytes), writer_(log, bytes.name(), LogFormat::kFlightRecorder) {}

  void read() {
    constexpr std::string_view kLists[] = {"entries"};
    stream_json_pieces(bytes_, kLists, [&](const JsonPiece& piece) {
      if (piece.key == "pg_config") {
        groups(piece);
      } else if (piece.key == "version") {
        writer_.source().version = piece.text.substr(1, piece.text.size() - 2);
      } else if (piece.element) {
        entry(piece);
      }
    });
    finish();
  }

 private:
  /// A call whose group is not resolved yet, because dumps of some versions list the groups at
  /// their end.
  struct DumpedCall {
    LoggedCall record;
    std::string group;
    std::int64_t peer = kUnknown;
    std::int64_t parts = 0;  ///< Number of ranks, inferred from the call's sizes; 0: not known.
  };

  bool parse(const JsonPiece& piece, dom::element& value) {
    return parser_.parse(piece.text.data(), piece.text.size(), false).get(value) ==
               simdjson::SUCCESS &&
           !has_duplicate_key(value);
  }

  void groups(const JsonPiece& piece) {
    groups_ = read_flight_recorder_groups(piece, bytes_.name());
    std::int64_t& world = writer_.source().world;
    for (const auto& [name, group] : groups_) {
      world = std::max(world, group.size);
      for (const std::int64_t rank : group.ranks) world = std::max(world, rank + 1);
    }
  }

  static DumpedTensors tensors_of(const dom::element& entry, std::string_view sizes,
                                  std::string_view types) {
    DumpedTensors tensors;
    dom::array list;
    const auto error = entry[sizes].get(list);
    if (error == simdjson::NO_SUCH_FIELD) return tensors;
    if (error != simdjson::SUCCESS) return {kUnknown, 0};
    for (const dom::element shape : list) {
      dom::array extents;
      if (shape.get(extents) != simdjson::SUCCESS) return {kUnknown, 0};
      std::int64_t product = 1;
      for (const dom::element extent : extents) {
        std::int64_t size = 0;
        if (extent.get(size) != simdjson::SUCCESS || size < 0 ||
            __builtin_mul_overflow(product, size, &product)) {
          return {kUnknown, 0};
        }
      }
      if (__builtin_add_overflow(tensors.elements, product, &tensors.elements)) {
        return {kUnknown, 0};
      }
    }
    std::string_view type;
    if (entry[types].at(0).get(type) == simdjson::SUCCESS) {
      tensors.element_bytes = torch_type_bytes(type);
    }
    return tensors;
  }

  void entry(const JsonPiece& piece) {
    dom::element entry;
    ++writer_.source().lines;
    if (!parse(piece, entry) || !entry.is_object()) {
      return fail_entry(piece, "no entry of a flight recorder");
    }
    const std::string_view name = json_text_field(entry, "profiling_name");
    note_ring(entry, piece);
    if (is_not_torch_call(name)) return;
    const auto call = operation_of_torch_call(name);
    if (!call) return fail_entry(piece, fmt::format("an unknown operation, \"{}\"", name));
    const DumpedTensors in = tensors_of(entry, "input_sizes", "input_dtypes");
    const DumpedTensors out = tensors_of(entry, "output_sizes", "output_dtypes");
    const std::int64_t element_bytes = std::max(in.element_bytes, out.element_bytes);
    const std::int64_t payload =
        in.elements == kUnknown || out.elements == kUnknown
            ? kUnknown
            : local_call_payload_bytes(*call, in.elements, out.elements, element_bytes);
    if (payload == kUnknown) return fail_entry(piece, "a message of no size or an unknown type");
    DumpedCall dumped{.record = {.line = piece.number,
                                 .payload_bytes = payload,
                                 .operation = *call,
                                 .element_bytes = static_cast<std::uint8_t>(element_bytes)},
                      .group = std::string(flight_recorder_group_name_or_purpose(entry, 0))};
    note_times(entry, dumped.record);
    if (is_point_to_point(*call)) {
      dumped.peer = peer_rank_in_flight_recorder_name(name, *call == LoggedOperation::kSend);
    }
    if (*call == LoggedOperation::kAllGather || *call == LoggedOperation::kReduceScatter) {
      const auto [small, large] = std::minmax(in.elements, out.elements);
      if (small > 0 && large % small == 0) dumped.parts = large / small;
    }
    note_gloo(name);
    if (!has_flight_recorder_call_ended(entry)) ++open_;
    calls_.push_back(std::move(dumped));
  }

  void fail_entry(const JsonPiece& piece, std::string reason) {
    writer_.source().count_unexplained_line(piece.number, std::move(reason));
  }

  static void note_times(const dom::element& entry, LoggedCall& record) {
    if (const auto created = number_in(entry, "time_created_ns"))
      record.enqueued_s = *created * 1e-9;
    if (const auto took = number_in(entry, "duration_ms")) record.duration_s = *took * 1e-3;
  }

  void note_ring(const dom::element& entry, const JsonPiece& piece) {
    const std::int64_t id = json_integer_field(entry, "record_id").value_or(0);
    if (piece.number == 1 && id > 0) {
      writer_.source().note(
          fmt::format("The recorder's buffer was overwritten: {} earlier calls are lost.", id));
    }
  }

  void note_gloo(std::string_view name) {
    if (name.starts_with("gloo:")) {
      writer_.source().scatters_as_reductions = true;
      writer_.source().lacks_messages = true;
      writer_.source().note(
          "With Gloo a reduce-scatter is recorded as an all-reduce, and sends and receives are not "
          "recorded.");
    }
  }

  void finish() {
    LogFileReadResult& source = writer_.source();
    const std::int64_t rank = rank_in_file_name(source.file);
    if (rank == kUnknown) {
      source.note("Neither the name of the file nor the dump states the rank.");
    }
    if (open_ > 0) {
      source.note(
          fmt::format("{} did not end. If the job hung, `stepwright diagnose` says why, from the "
                      "dumps of all ranks.",
                      count_with_noun(open_, "call")));
    }
    for (DumpedCall& call : calls_) {
      LoggedCall& record = call.record;
      record.rank = rank;
      record.communicator = group_of(call);
      const std::vector<std::int64_t>& ranks = writer_.communicator(record.communicator).ranks;
      if (call.peer >= 0 && call.peer < std::ssize(ranks)) {
        record.peer = ranks[static_cast<std::size_t>(call.peer)];
      }
      writer_.add(record);
    }
  }

  /// Returns the group of a call. If the dump does not list groups, the size of a gather's or
  /// scatter's group follows from its buffers.
  std::int32_t group_of(const DumpedCall& call) {
    const LogCommunicator* known = flight_recorder_group_of_entry(groups_, call.group);
    if (known == nullptr || known->size == 0) return writer_.communicator(call.group, call.parts);
    return writer_.communicator(known->name, known->size, known->ranks);
  }

  FileByteReader& bytes_;
  LogCallCollector writer_;
  dom::parser parser_;
  std::int64_t open_ = 0;  ///< Number of calls that did not end.
  RecorderGroups groups_;
  std::vector<DumpedCall> calls_;
};

}  // namespace

void read_flight_recorder(FileByteReader& bytes, CommunicationLog& log) {
  read_recorder_dump_as_json(bytes,
                             [&](FileByteReader& json) { FlightRecorderReader(json, log).read(); });
}

}  // namespace stepwright::logs
