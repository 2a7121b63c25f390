#include "stepwright/snapshot/read_snapshot.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/logs/files/json_fields.h"
#include "stepwright/logs/files/json_scanner.h"
#include "stepwright/logs/files/pickle.h"
#include "stepwright/snapshot/trace_walk.h"

namespace stepwright::snapshot {
namespace {

using logs::PickleId;
using logs::PickleKind;
namespace dom = simdjson::dom;

constexpr std::size_t kMostSnapshotValues = std::size_t{1} << 30;
/// Most bytes of a block or segment: no device has as much memory.
constexpr std::int64_t kMostBlockBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMostDevices = 4096;
constexpr std::size_t kMostSegments = std::size_t{4} << 20;
constexpr std::size_t kMostUnknownKinds = 16;

bool is_in_use(std::string_view state) { return state == "active_allocated"; }
bool is_unused(std::string_view state) { return state == "inactive"; }

/// Builds a snapshot from a file of either form.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(std::string file) { snapshot_.file = std::move(file); }

  CallStackTable& stacks() { return snapshot_.stacks; }

  void count_unknown(std::string_view kind) {
    auto& counts = snapshot_.unknown_events;
    const std::string name = one_line_printable_text(kind);
    if (counts.contains(name) || counts.size() < kMostUnknownKinds) ++counts[name];
  }

  void add(AllocatorSegment segment) {
    if (segments_.size() >= kMostSegments) {
      fail_input(fmt::format("{}: more than {} segments", snapshot_.file, kMostSegments));
    }
    segments_.push_back(std::move(segment));
  }

  /// Returns the finished snapshot; `traces`: one for each device.
  AllocatorSnapshot finish(std::vector<DeviceMemoryTraceWalk> traces) && {
    std::map<std::int64_t, std::vector<const AllocatorSegment*>> by_device;
    for (const AllocatorSegment& segment : segments_) by_device[segment.device].push_back(&segment);
    for (const auto& [device, segments] : by_device) {
      if (device >= std::ssize(traces)) traces.resize(static_cast<std::size_t>(device) + 1);
    }
    for (std::size_t device = 0; device < traces.size(); ++device) {
      DeviceMemorySnapshot recording =
          std::move(traces[device]).finish(by_device[static_cast<std::int64_t>(device)]);
      if (recording.has_left_out_blocks) {
        fail_input(fmt::format("{}: device {}: more than 4 Mi blocks in use at once",
                               snapshot_.file, device));
      }
      recording.device = static_cast<std::int64_t>(device);
      if (recording.peak_bytes > 0) snapshot_.devices.push_back(std::move(recording));
    }
    if (snapshot_.devices.empty()) {
      fail_input(
          fmt::format("{}: no device has a block in use: record before the first step "
                      "(torch.cuda.memory._record_memory_history()), and dump after one",
                      snapshot_.file));
    }
    return std::move(snapshot_);
  }

 private:
  AllocatorSnapshot snapshot_;
  std::vector<AllocatorSegment> segments_;
};

/// Reads a snapshot that is a pickle, record by record.
class PickledSnapshot {
 public:
  explicit PickledSnapshot(logs::FileByteReader& source)
      : pickle_(source, kMostSnapshotValues), builder_(source.name()) {
    pickle_.consume_mappings_with_key("action",
                                      [&](PickleId record, PickleId list) { event(record, list); });
    pickle_.consume_mappings_with_key(
        "blocks", [&](PickleId record, PickleId list) { segment(record, list); });
  }

  AllocatorSnapshot read() {
    const PickleId root = pickle_.read_to_end();
    const PickleId segments = pickle_.find(root, "segments");
    const PickleId traces = pickle_.find(root, "device_traces");
    for (const PickleId one : {segments, traces}) {
      if (one == logs::kNoPickleValue || pickle_.kind(one) != PickleKind::kList) {
        pickle_.fail(
            root,
            "is not a snapshot of torch.cuda.memory: a mapping with the lists 'segments' and "
            "'device_traces' is expected");
      }
    }
    if (!pickle_.pickle_container_items(segments).empty()) {
      pickle_.fail(pickle_.pickle_container_items(segments).front(), "a segment without 'blocks'");
    }
    std::vector<DeviceMemoryTraceWalk> walks;
    for (const PickleId list : pickle_.pickle_container_items(traces)) {
      if (pickle_.kind(list) != PickleKind::kList) {
        pickle_.fail(list, "a device's trace must be a list of events");
      }
      if (!pickle_.pickle_container_items(list).empty()) {
        pickle_.fail(pickle_.pickle_container_items(list).front(), "an event without 'action'");
      }
      walks.push_back(std::move(traces_[list]));
      if (std::ssize(walks) > kMostDevices) pickle_.fail(list, "more than 4,096 devices");
    }
    if (traces_.size() > walks.size()) pickle_.fail(root, "events outside 'device_traces'");
    return std::move(builder_).finish(std::move(walks));
  }

 private:
  PickleId need(PickleId record, std::string_view key, std::string_view what) {
    const PickleId value = pickle_.find(record, key);
    if (value == logs::kNoPickleValue) {
      pickle_.fail(record, fmt::format("{} without '{}'", what, key));
    }
    return value;
  }

  std::int64_t whole(PickleId value, std::string_view key, std::int64_t most) {
    const auto number = pickle_.integer(value);
    if (!number || *number < 0 || *number > most) {
      pickle_.fail(value, fmt::format("'{}' must be a whole number from 0 to {}, not {}", key, most,
                                      one_line_printable_text(pickle_.scalar_json(value))));
    }
    return *number;
  }
  std::int64_t bytes(PickleId record, std::string_view key, std::string_view what) {
    return whole(need(record, key, what), key, kMostBlockBytes);
  }
  std::uint64_t address(PickleId record, std::string_view key, std::string_view what) {
    return static_cast<std::uint64_t>(whole(need(record, key, what), key, INT64_MAX));
  }

  StackId stack_in(PickleId record) {
    const PickleId frames = pickle_.find(record, "frames");
    if (frames == logs::kNoPickleValue) return 0;
    if (const auto known = pickle_.replacement_number_of_container(frames)) return *known;
    if (pickle_.kind(frames) != PickleKind::kList) return 0;
    frames_.clear();
    for (const PickleId frame : pickle_.pickle_container_items(frames))
      frames_.push_back(frame_of(frame));
    const StackId stack = builder_.stacks().store_call_stack(frames_);
    pickle_.replace_container_by_number(frames, stack);
    return stack;
  }

  FrameId frame_of(PickleId frame) {
    if (const auto known = pickle_.replacement_number_of_container(frame)) return *known;
    if (pickle_.kind(frame) != PickleKind::kMapping) {
      pickle_.fail(frame, "a frame must be a mapping with 'filename', 'line' and 'name'");
    }
    const auto text = [&](std::string_view key) {
      const PickleId value = pickle_.find(frame, key);
      return value == logs::kNoPickleValue ? std::string_view() : pickle_.text(value);
    };
    const PickleId line = pickle_.find(frame, "line");
    const FrameId id = builder_.stacks().frame(
        {.file = text("filename"),
         .line = line == logs::kNoPickleValue ? 0 : pickle_.integer(line).value_or(0),
         .name = text("name")});
    pickle_.replace_container_by_number(frame, id);
    return id;
  }

  void event(PickleId record, PickleId list) {
    DeviceMemoryTraceWalk& walk = traces_[list];
    const std::string_view name = pickle_.text(need(record, "action", "an event"));
    const auto kind = snapshot_trace_event_kind(name);
    if (!kind) {
      builder_.count_unknown(name);
      return walk.count_non_memory_event();
    }
    MemoryTraceEvent event{.kind = *kind};
    if (*kind == TraceEventKind::kOutOfMemory) {
      event.bytes = bytes(record, "size", "an event");
      event.free_bytes = bytes(record, "device_free", "an event");
    } else if (*kind != TraceEventKind::kSnapshot) {
      event.address = address(record, "addr", "an event");
      event.bytes = bytes(record, "size", "an event");
      event.stack = stack_in(record);
    }
    walk.add(event);
  }

  void segment(PickleId record, PickleId) {
    constexpr std::string_view kWhat = "a segment";
    AllocatorSegment segment{.bytes = bytes(record, "total_size", kWhat)};
    if (const PickleId device = pickle_.find(record, "device"); device != logs::kNoPickleValue) {
      segment.device = whole(device, "device", kMostDevices);
    }
    std::uint64_t at = address(record, "address", kWhat);
    std::int64_t unused = 0;
    for (const PickleId block : pickle_.pickle_container_items(need(record, "blocks", kWhat))) {
      const std::int64_t size = bytes(block, "size", "a block");
      const std::string_view state = pickle_.text(need(block, "state", "a block"));
      if (is_in_use(state)) segment.blocks.push_back(in_use(block, at, size));
      unused = is_unused(state) ? segment.add_unused_segment_piece(size, unused) : 0;
      at += static_cast<std::uint64_t>(size);
    }
    builder_.add(std::move(segment));
  }

  /// Returns a block in use. Blocks of PyTorch 2.0 have their stack in a history.
  AllocatorSegmentBlock in_use(PickleId block, std::uint64_t at, std::int64_t size) {
    const PickleId history = pickle_.find(block, "history");
    if (history != logs::kNoPickleValue && !pickle_.pickle_container_items(history).empty()) {
      const PickleId last = pickle_.pickle_container_items(history).front();
      return {.address = at, .bytes = bytes(last, "real_size", "a block"), .stack = stack_in(last)};
    }
    const PickleId requested = pickle_.find(block, "requested_size");
    if (requested != logs::kNoPickleValue) size = whole(requested, "requested_size", size);
    return {.address = at, .bytes = size, .stack = stack_in(block)};
  }

  logs::PickleReader pickle_;
  SnapshotBuilder builder_;
  std::map<PickleId, DeviceMemoryTraceWalk>
      traces_;  ///< Walks, by the pickled list that holds their events.
  std::vector<FrameId> frames_;
};

/// Reads a snapshot that is JSON: `json.dump(torch.cuda.memory._snapshot(), file)`. The trace of a
/// device is read as one piece of at most 64 MiB.
class JsonSnapshot {
 public:
  explicit JsonSnapshot(logs::FileByteReader& source) : source_(source), builder_(source.name()) {}

  AllocatorSnapshot read() {
    constexpr std::string_view kLists[] = {"segments", "device_traces"};
    std::array<bool, 2> there{};
    logs::stream_json_pieces(source_, kLists, [&](const logs::JsonPiece& piece) {
      if (!piece.element) return;
      there[piece.key == kLists[1] ? 1 : 0] = true;
      dom::element value;
      if (parser_.parse(piece.text.data(), piece.text.size(), false).get(value) !=
          simdjson::SUCCESS) {
        fail(piece, "is not JSON");
      }
      if (piece.key == kLists[0]) {
        segment(piece, value);
      } else {
        trace(piece, value);
      }
    });
    if (!there[0] && !there[1]) {
      fail_input(
          fmt::format("{}: is not a snapshot of torch.cuda.memory: a mapping with the lists "
                      "'segments' and 'device_traces' is expected",
                      source_.name()));
    }
    return std::move(builder_).finish(std::move(walks_));
  }

 private:
  [[noreturn]] void fail(const logs::JsonPiece& piece, std::string_view what) const {
    fail_input(fmt::format("{}: byte {}: {}", source_.name(), piece.offset + 1, what));
  }

  std::int64_t whole(const logs::JsonPiece& piece, const dom::element& object, std::string_view key,
                     std::int64_t most = kMostBlockBytes) const {
    const auto number = logs::json_integer_field(object, key);
    if (!number || *number < 0 || *number > most) {
      fail(piece, fmt::format("'{}' must be a whole number from 0 to {}", key, most));
    }
    return *number;
  }

  StackId stack_in(const dom::element& object) {
    dom::array list;
    if (object["frames"].get(list) != simdjson::SUCCESS) return 0;
    std::vector<FrameId> frames;
    for (const dom::element frame : list) {
      frames.push_back(
          builder_.stacks().frame({.file = logs::json_text_field(frame, "filename"),
                                   .line = logs::json_integer_field(frame, "line").value_or(0),
                                   .name = logs::json_text_field(frame, "name")}));
    }
    return builder_.stacks().store_call_stack(frames);
  }

  void trace(const logs::JsonPiece& piece, const dom::element& value) {
    dom::array list;
    if (value.get(list) != simdjson::SUCCESS) fail(piece, "a device's trace must be a list");
    DeviceMemoryTraceWalk& walk = walks_.emplace_back();
    if (std::ssize(walks_) > kMostDevices) fail(piece, "more than 4,096 devices");
    for (const dom::element entry : list) {
      const std::string_view name = logs::json_text_field(entry, "action");
      const auto kind = snapshot_trace_event_kind(name);
      if (!kind) {
        builder_.count_unknown(name);
        walk.count_non_memory_event();
        continue;
      }
      MemoryTraceEvent event{.kind = *kind};
      if (*kind == TraceEventKind::kOutOfMemory) {
        event.free_bytes = whole(piece, entry, "device_free");
      } else if (*kind != TraceEventKind::kSnapshot) {
        event.address = static_cast<std::uint64_t>(whole(piece, entry, "addr", INT64_MAX));
        event.stack = stack_in(entry);
      }
      if (*kind != TraceEventKind::kSnapshot) event.bytes = whole(piece, entry, "size");
      walk.add(event);
    }
  }

  void segment(const logs::JsonPiece& piece, const dom::element& value) {
    AllocatorSegment segment{.bytes = whole(piece, value, "total_size")};
    if (logs::json_integer_field(value, "device")) {
      segment.device = whole(piece, value, "device", kMostDevices);
    }
    dom::array blocks;
    if (value["blocks"].get(blocks) != simdjson::SUCCESS) fail(piece, "a segment without 'blocks'");
    auto at = static_cast<std::uint64_t>(whole(piece, value, "address", INT64_MAX));
    std::int64_t unused = 0;
    for (const dom::element block : blocks) {
      const std::int64_t size = whole(piece, block, "size");
      const std::string state(logs::json_text_field(block, "state"));
      unused = is_unused(state) ? segment.add_unused_segment_piece(size, unused) : 0;
      if (is_in_use(state)) {
        const bool says = logs::json_integer_field(block, "requested_size").has_value();
        segment.blocks.push_back(
            {.address = at,
             .bytes = says ? whole(piece, block, "requested_size", size) : size,
             .stack = stack_in(block)});
      }
      at += static_cast<std::uint64_t>(size);
    }
    builder_.add(std::move(segment));
  }

  logs::FileByteReader& source_;
  SnapshotBuilder builder_;
  std::vector<DeviceMemoryTraceWalk> walks_;
  dom::parser parser_;
};

}  // namespace

AllocatorSnapshot read_allocator_snapshot(logs::FileByteReader& source) {
  const std::string_view peek_first_bytes = source.peek_first_bytes();
  const std::size_t first = peek_first_bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail_input(source.name() + ": is empty");
  if (peek_first_bytes[first] == '{') return JsonSnapshot(source).read();
  return PickledSnapshot(source).read();
}

AllocatorSnapshot read_allocator_snapshot(const std::filesystem::path& path) {
  logs::FileByteReader source(path);
  return read_allocator_snapshot(source);
}

}  // namespace stepwright::snapshot
