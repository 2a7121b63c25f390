#include "stepwright/diagnose/recorder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/recorder_entry.h"

namespace stepwright::diagnose {
namespace {

namespace dom = simdjson::dom;

/// Returns a list member as JSON text: "[[512], [3]]"; empty if it is no list.
std::string list_in(const dom::element& entry, std::string_view key) {
  dom::array list;
  return entry[key].get(list) == simdjson::SUCCESS ? std::string(simdjson::minify(list)) : "";
}

/// Returns the sizes that must be equal on all ranks of a call; empty for calls in which ranks may
/// differ: gathers and scatters with one root, and all-to-alls.
std::string shared_sizes(const dom::element& entry, std::string_view operation) {
  const auto is = [&](std::string_view word) { return operation.find(word) != operation.npos; };
  if (is("all_to_all") || is("alltoall") || is("coalesced")) return {};
  if (is("all_gather") || is("allgather")) return list_in(entry, "output_sizes");
  if (is("reduce_scatter") || is("all_reduce") || is("allreduce")) {
    return list_in(entry, "input_sizes");
  }
  if (is("gather") || is("scatter")) return {};
  return list_in(entry, "input_sizes");
}

/// Returns the innermost frame that belongs neither to PyTorch nor to another installed package.
std::string user_frame(const dom::element& entry) {
  dom::array frames;
  if (entry["frames"].get(frames) != simdjson::SUCCESS) return {};
  std::string first;
  for (const dom::element frame : frames) {
    const std::string_view path = logs::json_text_field(frame, "filename");
    const std::string text = fmt::format("{}:{} in {}", path.substr(path.find_last_of('/') + 1),
                                         logs::json_integer_field(frame, "line").value_or(0),
                                         logs::json_text_field(frame, "name"));
    if (first.empty()) first = text;
    if (!is_installed_library_file(path)) return text;
  }
  return first;
}

/// Reads the dump of one rank.
class Dump {
 public:
  Dump(logs::FileByteReader& bytes, JobFailureEvidence& evidence)
      : bytes_(bytes), evidence_(evidence), rank_(logs::rank_in_file_name(bytes.name())) {
    if (rank_ == logs::kUnknown) {
      fail_input(
          fmt::format("{}: is a dump of the flight recorder, which does not contain its rank: put "
                      "the rank into the file name, as in flight_rank_3",
                      bytes.name()));
    }
  }

  std::int64_t read() {
    constexpr std::string_view kLists[] = {"entries"};
    stream_json_pieces(bytes_, kLists, [&](const logs::JsonPiece& piece) {
      if (piece.key == "pg_config") return read_groups(piece);
      if (!piece.element) return;
      dom::element value;
      if (parser_.parse(piece.text.data(), piece.text.size(), false).get(value) !=
          simdjson::SUCCESS) {
        fail_input(fmt::format("{}: byte {}: must be JSON", bytes_.name(), piece.offset + 1));
      }
      read_entry(value, piece.number);
    });
    name_groups();
    RankCallHistory trail{.rank = rank_, .file = bytes_.name(), .calls = std::move(calls_)};
    evidence_.trails.insert_or_assign(rank_, std::move(trail));
    return rank_;
  }

 private:
  void read_groups(const logs::JsonPiece& config) {
    listed_ = logs::read_flight_recorder_groups(config, bytes_.name());
    for (const auto& [name, group] : listed_) {
      for (const std::int64_t rank : group.ranks) {
        evidence_.world = std::max(evidence_.world, rank + 1);
      }
    }
  }

  void read_entry(const dom::element& entry, std::int64_t number) {
    const std::string_view name = logs::json_text_field(entry, "profiling_name");
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos) return;
    if (name.starts_with("gloo:")) evidence_.records_messages = false;
    RankCommunicationCall call{
        .place = number,
        .sequence = logs::json_integer_field(entry, "collective_seq_id").value_or(0),
        .operation = std::string(name.substr(colon + 1)),
        .frame = user_frame(entry)};
    call.sizes = shared_sizes(entry, call.operation);
    std::string_view type;
    if (entry["input_dtypes"].at(0).get(type) == simdjson::SUCCESS) call.type = type;
    call.ended = logs::has_flight_recorder_call_ended(entry);
    call.sends = call.operation.starts_with("send");
    call.message = call.sends || call.operation.starts_with("recv");
    call.group = static_cast<std::int32_t>(own_groups_.size());
    own_groups_.push_back(
        {.name = std::string(logs::flight_recorder_group_name_or_purpose(entry, 0)),
         .purpose = std::string(logs::flight_recorder_group_name_or_purpose(entry, 1))});
    calls_.push_back(std::move(call));
  }

  /// Sets the groups of calls at the end, because dumps of some versions list the groups last.
  void name_groups() {
    for (RankCommunicationCall& call : calls_) {
      DiagnosedProcessGroup group = own_groups_[static_cast<std::size_t>(call.group)];
      const logs::LogCommunicator* known =
          logs::flight_recorder_group_of_entry(listed_, group.name);
      if (known != nullptr) group.ranks = known->ranks;
      call.group = evidence_.find_or_add_process_group(group);
      if (call.message) name_peer(call, group);
    }
  }

  static void name_peer(RankCommunicationCall& call, const DiagnosedProcessGroup& group) {
    const std::int64_t peer = logs::peer_rank_in_flight_recorder_name(call.operation, call.sends);
    if (peer < 0) return;
    if (peer < std::ssize(group.ranks)) call.peer = group.ranks[static_cast<std::size_t>(peer)];
    call.operation.resize(call.operation.find(' '));
  }

  logs::FileByteReader& bytes_;
  JobFailureEvidence& evidence_;
  std::int64_t rank_;
  dom::parser parser_;
  logs::RecorderGroups listed_;
  std::vector<DiagnosedProcessGroup> own_groups_;  ///< Groups as this dump names them, by call.
  std::vector<RankCommunicationCall> calls_;
};

}  // namespace

std::int64_t read_flight_recorder_dump(logs::FileByteReader& bytes, JobFailureEvidence& evidence) {
  std::int64_t rank = logs::kUnknown;
  logs::read_recorder_dump_as_json(
      bytes, [&](logs::FileByteReader& json) { rank = Dump(json, evidence).read(); });
  return rank;
}

}  // namespace stepwright::diagnose
