#include "stepwright/logs/readers/nccl_plugin.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>

#include "stepwright/logs/files/element_type.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/object_splitter.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/logs/readers/nccl_operations.h"

namespace stepwright::logs {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 48;

std::int64_t whole_in(std::string_view text, std::string_view key) {
  return parse_whole_number(find_json_member_without_parsing(text, key)).value_or(kUnknown);
}

}  // namespace

/// Reads one file of the plugin.
class NcclProfilerReader::File {
 public:
  File(NcclProfilerReader& reader, LogFileReadResult& source, std::int32_t number)
      : reader_(reader), source_(source), number_(number) {}

  void event(const BracedTextObject& object) {
    ++source_.lines;
    const std::string category(find_json_member_without_parsing(object.text, "\"cat\""));
    const std::string_view phase = find_json_member_without_parsing(object.text, "\"ph\"");
    if (!object.whole) return explain_not(object, "an event that ends in the middle");
    if (category != "COLL" && category != "P2P") return;
    const EventId id{category, whole_in(object.text, "\"pid\""), whole_in(object.text, "\"id\"")};
    double time_us = 0;
    const std::string_view spelt = find_json_member_without_parsing(object.text, "\"ts\"");
    std::from_chars(spelt.data(), spelt.data() + spelt.size(), time_us);
    if (phase == "b") {
      begin(object, id, time_us);
    } else if (const auto open = open_.find(id); phase == "e" && open != open_.end()) {
      LoggedCall record = reader_.log_.records[open->second];
      record.duration_s = time_us * 1e-6 - record.start_s;
      reader_.log_.records.set(open->second, record);
      open_.erase(open);
    }
  }

 private:
  using EventId = std::tuple<std::string, std::int64_t, std::int64_t>;  // category, process, id

  void explain_not(const BracedTextObject& object, std::string reason) {
    source_.count_unexplained_line(object.line, std::move(reason));
  }

  void begin(const BracedTextObject& object, const EventId& id, double time_us) {
    const std::string_view name = find_json_member_without_parsing(object.text, "\"name\"");
    const auto operation = nccl_operation(name);
    if (!operation) return explain_not(object, fmt::format("an unknown operation, \"{}\"", name));
    const std::int64_t width =
        nccl_type_bytes(find_json_member_without_parsing(object.text, "\"Datatype\""));
    const std::int64_t bytes = buffer_bytes(whole_in(object.text, "\"Count\""), width);
    const std::string group(find_json_member_without_parsing(object.text, "\"CommHash\""));
    const std::int64_t rank = whole_in(object.text, "\"Rank\"");
    if (bytes == kUnknown || group.empty() || rank < 0 || rank >= kMaxJobRanks) {
      return explain_not(object, "an event without count, type, communicator or rank");
    }
    const auto next = static_cast<std::int32_t>(reader_.groups_.size());
    NcclCommunicator& seen =
        reader_.groups_.try_emplace(group, NcclCommunicator{next, {}}).first->second;
    seen.ranks.insert(rank);
    open_[id] = reader_.log_.records.size();
    reader_.log_.records.push_back({.line = object.line,
                                    .rank = rank,
                                    .logged_bytes = bytes,
                                    .peer = whole_in(object.text, "\"Peer\""),
                                    .start_s = time_us * 1e-6,
                                    .communicator = seen.number,
                                    .source = number_,
                                    .operation = *operation,
                                    .element_bytes = static_cast<std::uint8_t>(width)});
  }

  NcclProfilerReader& reader_;
  LogFileReadResult& source_;
  std::int32_t number_;
  /// Indices of the log's records, for events that have not ended.
  std::map<EventId, std::size_t> open_;
};

void NcclProfilerReader::read(FileByteReader& bytes) {
  const auto number = static_cast<std::int32_t>(log_.sources.size());
  log_.sources.push_back({.file = bytes.name(), .format = LogFormat::kNcclProfiler});
  log_.sources.back().note(
      "Sizes of communicators are not logged; known are those all of whose ranks are in the logs.");
  File file(*this, log_.sources.back(), number);
  stream_outermost_braced_objects(bytes,
                                  [&](const BracedTextObject& object) { file.event(object); });
}

/// A process's rank is its rank in the largest communicator.
void NcclProfilerReader::finish() {
  std::vector<std::int32_t> known(groups_.size());
  for (const auto& [name, group] : groups_) {
    known[static_cast<std::size_t>(group.number)] =
        static_cast<std::int32_t>(log_.communicators.size());
    const auto size = std::ssize(group.ranks);
    const bool all = *group.ranks.rbegin() + 1 == size && size > 1;
    log_.communicators.push_back({.name = name, .size = all ? size : 0, .ranks = {}});
  }
  log_.records.change_kinds([&](LoggedCall& record) {
    const LogFileReadResult& source = log_.sources[static_cast<std::size_t>(record.source)];
    if (source.format != LogFormat::kNcclProfiler) return;
    record.communicator = known[static_cast<std::size_t>(record.communicator)];
    record.payload_bytes =
        nccl_call_payload_bytes(record.operation, record.logged_bytes, log_.group_size(record));
    if (record.payload_bytes != kUnknown) record.logged_bytes = kUnknown;
  });
}

namespace {

/// A set of numbers, most of them consecutive, stored as runs.
class NumberRuns {
 public:
  void insert(std::int64_t number) {
    auto next = runs_.upper_bound(number);
    if (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (number <= before->second) return;
      if (number == before->second + 1) {
        before->second = number;
        if (next != runs_.end() && next->first == number + 1) {
          before->second = next->second;
          runs_.erase(next);
        }
        return;
      }
    }
    std::int64_t last = number;
    if (next != runs_.end() && next->first == number + 1) {
      last = next->second;
      next = runs_.erase(next);
    }
    runs_.emplace_hint(next, number, last);
  }

  /// Returns how many numbers between the first and the last are missing.
  [[nodiscard]] std::int64_t missing() const {
    std::int64_t count = 0;
    std::int64_t last = runs_.empty() ? 0 : runs_.begin()->first - 1;
    for (const auto& [first, end] : runs_) {
      count += first - last - 1;
      last = end;
    }
    return count;
  }

 private:
  std::map<std::int64_t, std::int64_t> runs_;  ///< Last number of each run, by its first number.
};

class NcclInspectorReader {
 public:
  NcclInspectorReader(FileByteReader& bytes, CommunicationLog& log)
      : bytes_(bytes),
        log_(log),
        number_(static_cast<std::int32_t>(log.sources.size())),
        writer_(log, bytes.name(), LogFormat::kNcclInspector) {}

  void read() {
    stream_outermost_braced_objects(bytes_, [&](const BracedTextObject& object) {
      ++writer_.source().lines;
      if (!this->object(object)) {
        writer_.source().count_unexplained_line(object.line, "no object of the inspector");
      }
    });
    finish();
  }

 private:
  bool object(const BracedTextObject& object) {
    dom_element root;
    if (!object.whole || parser_.parse(object.text).get(root) != simdjson::SUCCESS ||
        has_duplicate_key(root)) {
      return false;
    }
    dom_element header;
    dom_element call;
    if (root["header"].get(header) == simdjson::SUCCESS) read_header(header);
    note_version(root);
    if (root["coll_perf"].get(call) == simdjson::SUCCESS) return collective(call, object);
    if (root["p2p_perf"].get(call) == simdjson::SUCCESS) return message(call, object);
    return communicator_ >= 0;
  }

  using dom_element = simdjson::dom::element;

  void note_version(const dom_element& root) {
    dom_element metadata;
    if (root["metadata"].get(metadata) != simdjson::SUCCESS) return;
    writer_.source().version =
        std::string(json_text_field(metadata, "inspector_output_format_version"));
  }

  /// Reads the communicator and the rank in it, for this object and for following ones without a
  /// header.
  void read_header(const dom_element& header) {
    const std::int64_t size = json_rank_number_field(header, "n_ranks").value_or(0);
    const std::string_view id = json_text_field(header, "id");
    const bool known = size >= 1 && !id.empty();
    communicator_ = known ? writer_.communicator(std::string(id), size) : -1;
    rank_ = json_rank_number_field(header, "rank").value_or(kUnknown);
  }

  bool collective(const dom_element& call, const BracedTextObject& object) {
    const auto operation = nccl_operation(json_text_field(call, "coll"));
    if (!operation || communicator_ < 0) return false;
    LoggedCall record{
        .line = object.line,
        .rank = rank_,
        .payload_bytes = nccl_call_payload_bytes(*operation, sized(call, "coll_msg_size_bytes"),
                                                 writer_.group_size(communicator_)),
        .communicator = communicator_,
        .source = number_,
        .operation = *operation};
    if (const auto number = json_integer_field(call, "coll_sn");
        number && *number >= 0 && *number < kMostCalls) {
      numbers_[{communicator_, rank_}].insert(*number);
    }
    time(call, "coll_exec_time_us", record);
    return add(record);
  }

  bool message(const dom_element& call, const BracedTextObject& object) {
    const auto operation = nccl_operation(json_text_field(call, "p2p"));
    if (!operation || communicator_ < 0) return false;
    LoggedCall record{.line = object.line,
                      .rank = rank_,
                      .payload_bytes = sized(call, "p2p_msg_size_bytes"),
                      .peer = json_integer_field(call, "p2p_peer").value_or(kUnknown),
                      .communicator = communicator_,
                      .source = number_,
                      .operation = *operation};
    time(call, "p2p_exec_time_us", record);
    return add(record);
  }

  static std::int64_t sized(const dom_element& call, std::string_view key) {
    return buffer_bytes(json_integer_field(call, key).value_or(kUnknown), 1);
  }

  static void time(const dom_element& call, std::string_view key, LoggedCall& record) {
    if (const auto time_us = number_in(call, key)) record.duration_s = *time_us * 1e-6;
  }

  bool add(const LoggedCall& record) {
    if (record.payload_bytes == kUnknown) return false;
    log_.records.push_back(record);
    ranks_[record.communicator] = record.rank;
    return true;
  }

  /// A process's rank is its rank in the largest communicator; missing calls leave gaps in the
  /// numbers.
  void finish() {
    LogFileReadResult& source = writer_.source();
    std::int64_t lost = 0;
    for (const auto& [who, numbers] : numbers_) lost += numbers.missing();
    if (lost > 0) source.note(fmt::format("{} calls are missing, as gaps in coll_sn show.", lost));
    source.note(
        "Messages below NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES (8,192 bytes) are not in this log.");
    for (const auto& [communicator, rank] : ranks_) {
      source.world = std::max(source.world, writer_.group_size(communicator));
    }
    std::int64_t own = kUnknown;
    for (const auto& [communicator, rank] : ranks_) {
      if (writer_.group_size(communicator) == source.world) own = rank;
    }
    log_.records.change_kinds([&](LoggedCall& record) {
      const bool ours = record.source == number_;
      if (ours && writer_.group_size(record.communicator) != source.world) record.rank = own;
    });
  }

  FileByteReader& bytes_;
  CommunicationLog& log_;
  std::int32_t number_;  ///< Number of the source in the log.
  LogCallCollector writer_;
  simdjson::dom::parser parser_;
  std::int32_t communicator_ = -1;
  std::int64_t rank_ = kUnknown;
  /// Rank of the file's process in each communicator.
  std::map<std::int32_t, std::int64_t> ranks_;
  std::map<std::pair<std::int32_t, std::int64_t>, NumberRuns> numbers_;
};

}  // namespace

void read_nccl_inspector(FileByteReader& bytes, CommunicationLog& log) {
  NcclInspectorReader(bytes, log).read();
}

}  // namespace stepwright::logs
