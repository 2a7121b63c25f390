#include "stepwright/logs/readers/recorder_entry.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "stepwright/core/error.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/pickle.h"

namespace stepwright::logs {
namespace {

namespace dom = simdjson::dom;

constexpr char kPickleProtocol = '\x80';

}  // namespace

void read_recorder_dump_as_json(FileByteReader& bytes,
                                const std::function<void(FileByteReader&)>& read) {
  if (!bytes.peek_first_bytes().starts_with(kPickleProtocol)) return read(bytes);
  FileByteReader json(pickle_to_json(bytes), bytes.name());
  read(json);
}

RecorderGroups read_flight_recorder_groups(const JsonPiece& config, const std::string& file) {
  dom::parser parser;
  dom::element value;
  dom::object mapping;
  if (parser.parse(config.text.data(), config.text.size(), false).get(value) != simdjson::SUCCESS ||
      has_duplicate_key(value) || value.get(mapping) != simdjson::SUCCESS) {
    fail_input(fmt::format("{}: byte {}: 'pg_config' must be a mapping of groups, each once", file,
                           config.offset + 1));
  }
  RecorderGroups groups;
  for (const auto [key, group] : mapping) {
    LogCommunicator known{.name = std::string(json_text_field(group, "name"))};
    if (known.name.empty()) known.name = std::string(key);
    known.ranks = listed_ranks(group, "ranks");
    known.size = std::ssize(known.ranks);
    std::string name = known.name;
    groups[std::move(name)] = std::move(known);
  }
  return groups;
}

const LogCommunicator* flight_recorder_group_of_entry(const RecorderGroups& groups,
                                                      std::string_view name) {
  const auto found = groups.find(name);
  if (found != groups.end()) return &found->second;
  return groups.size() == 1 ? &groups.begin()->second : nullptr;
}

std::string_view flight_recorder_group_name_or_purpose(const dom::element& entry, std::size_t i) {
  std::string_view part;
  return entry["process_group"].at(i).get(part) == simdjson::SUCCESS ? part : std::string_view();
}

bool has_flight_recorder_call_ended(const dom::element& entry) {
  const std::string_view state = json_text_field(entry, "state");
  if (state.empty() || state == "completed") return true;
  bool retired = false;
  return entry["retired"].get(retired) == simdjson::SUCCESS && retired &&
         json_text_field(entry, "profiling_name").starts_with("gloo:");
}

std::int64_t peer_rank_in_flight_recorder_name(std::string_view name, bool sends) {
  const std::size_t arrow = name.find(sends ? "->" : "<-");
  if (arrow == std::string_view::npos) return kUnknown;
  return parse_whole_number(name.substr(arrow + 2)).value_or(kUnknown);
}

}  // namespace stepwright::logs
