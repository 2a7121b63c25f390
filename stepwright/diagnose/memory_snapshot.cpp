#include "stepwright/diagnose/memory_snapshot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "stepwright/core/format.h"
#include "stepwright/core/utf8.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/diagnose/line_origin.h"
#include "stepwright/snapshot/read_snapshot.h"

namespace stepwright::diagnose {
namespace {

/// A snapshot names its first list within this many bytes.
constexpr std::size_t kSnapshotMark = 64;
/// The most groups of blocks that are stored and shown, and the most frames of each.
constexpr std::size_t kMostGroups = 3;
constexpr std::size_t kMostFramesShown = 3;

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string group_text(const snapshot::SameStackBlocks& group) {
  std::vector<std::string> frames;
  for (const std::string& frame : group.frames | std::views::take(kMostFramesShown))
    frames.push_back(one_line_printable_text(frame));
  return fmt::format("{} in {}, {}", bytes_text(group.bytes), count_with_noun(group.count, "block"),
                     frames.empty() ? "without frames (record with stacks=\"python\")"
                                    : fmt::format("at {}", fmt::join(frames, " < ")));
}

/// Returns the snapshot that tells most about an event: that of its rank, else one with a failed
/// allocation, else the fullest.
const SnapshotMemory& snapshot_of(std::span<const SnapshotMemory> snapshots,
                                  const OutOfMemoryReport& event) {
  const auto same = std::ranges::find_if(snapshots, [&](const SnapshotMemory& one) {
    return event.rank >= 0 && one.rank == event.rank;
  });
  if (same != snapshots.end()) return *same;
  const auto failed = std::ranges::find_if(
      snapshots, [](const SnapshotMemory& one) { return one.failure.has_value(); });
  if (failed != snapshots.end()) return *failed;
  return *std::ranges::max_element(snapshots, {}, &SnapshotMemory::peak_bytes);
}

}  // namespace

bool is_memory_snapshot(logs::FileByteReader& bytes) {
  std::string_view text = bytes.peek_first_bytes();
  if (text.starts_with('\x80'))
    return line_contains_text(text.substr(0, kSnapshotMark), "segments");
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  text = text.substr(0, kSnapshotMark);
  return text.starts_with('{') && (line_contains_text(text, "\"segments\"") ||
                                   line_contains_text(text, "\"device_traces\""));
}

std::vector<SnapshotMemory> read_memory_snapshot(logs::FileByteReader& bytes) {
  const snapshot::AllocatorSnapshot read = snapshot::read_allocator_snapshot(bytes);
  std::vector<SnapshotMemory> devices;
  for (const snapshot::DeviceMemorySnapshot& recording : read.devices) {
    SnapshotMemory& device = devices.emplace_back();
    device.file = bytes.name();
    device.rank = rank_in_log_path(bytes.name());
    device.device = recording.device;
    device.events = recording.events;
    device.peak_bytes = recording.peak_bytes;
    device.reserved_bytes = recording.reserved_at_end_bytes;
    device.unused_bytes = recording.unused_bytes;
    device.largest_unused_bytes = recording.largest_unused_bytes;
    if (!recording.failures.empty()) device.failure = recording.failures.back();
    device.largest = snapshot::group_memory_blocks_by_call_stack(read.stacks, recording.at_peak);
    if (device.largest.size() > kMostGroups) device.largest.resize(kMostGroups);
  }
  return devices;
}

std::vector<OutOfMemoryReport> failed_allocations(std::span<const SnapshotMemory> snapshots) {
  std::vector<OutOfMemoryReport> events;
  for (const SnapshotMemory& one : snapshots) {
    if (!one.failure) continue;
    events.push_back({.file = one.file,
                      .line = one.failure->event + 1,
                      .rank = one.rank,
                      .asked_bytes = static_cast<double>(one.failure->bytes),
                      .free_bytes = static_cast<double>(one.failure->free_bytes),
                      .unused_bytes = static_cast<double>(one.unused_bytes)});
  }
  return events;
}

void add_snapshot_evidence(std::span<const SnapshotMemory> snapshots,
                           const OutOfMemoryReport& event, FaultFinding& finding) {
  if (snapshots.empty()) return;
  const SnapshotMemory& one = snapshot_of(snapshots, event);
  const double asked =
      one.failure ? static_cast<double>(one.failure->bytes) : std::max(0.0, event.asked_bytes);
  finding.evidence.push_back(fmt::format("{}: blocks of {} at the peak, in segments of {}",
                                         one.file, bytes_text(one.peak_bytes),
                                         bytes_text(one.reserved_bytes)));
  for (const snapshot::SameStackBlocks& group : one.largest)
    finding.evidence.push_back(fmt::format("{}: {}", one.file, group_text(group)));
  if (one.unused_bytes == 0) return;
  finding.evidence.push_back(
      fmt::format("{}: {} of the segments are in no block, the largest piece of it {}{}", one.file,
                  bytes_text(one.unused_bytes), bytes_text(one.largest_unused_bytes),
                  asked > 0 ? fmt::format("; {} were asked for", format_bytes(asked)) : ""));
  if (asked > 0 && static_cast<double>(one.unused_bytes) >= asked &&
      static_cast<double>(one.largest_unused_bytes) < asked)
    add_causes_and_remedies(finding, "oom.fragmented");
}

}  // namespace stepwright::diagnose
