#include "stepwright/snapshot/compare_snapshots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "stepwright/core/format.h"
#include "stepwright/logs/readers/log_writer.h"
#include "stepwright/snapshot/read_snapshot.h"

namespace stepwright::snapshot {
namespace {

using Json = nlohmann::ordered_json;

/// Most groups of blocks that an answer lists; the rest forms one group.
constexpr std::size_t kMostGroups = 200;

/// Computes the plan's peaks by position, and finds the largest.
class PlannedPeaks {
 public:
  PlannedPeaks(const plan::Job& job, const step::StepProgram& program)
      : job_(job), program_(program) {}

  const PlannedStagePeak& at(std::int64_t stage) {
    const auto [found, fresh] = peaks_.try_emplace(stage);
    if (fresh) {
      found->second =
          planned_peak(job_, program_, program_.stages[static_cast<std::size_t>(stage)]);
    }
    return found->second;
  }
  std::int64_t fullest() {
    std::int64_t fullest = 0;
    for (std::int64_t stage = 1; stage < std::ssize(program_.stages); ++stage) {
      if (at(stage).bytes > at(fullest).bytes) fullest = stage;
    }
    return fullest;
  }

 private:
  const plan::Job& job_;
  const step::StepProgram& program_;
  std::map<std::int64_t, PlannedStagePeak> peaks_;
};

/// Decides the rank and position of each recording.
class Placing {
 public:
  Placing(const step::StepProgram& program, SnapshotComparison& out)
      : program_(program), out_(out) {}

  void place(PlannedPeaks& peaks, std::size_t files) {
    const std::int64_t stages = std::ssize(program_.stages);
    const std::int64_t count = std::ssize(out_.ranks);
    if (by_name()) return;
    if (count == stages && files == 1) {
      for (std::int64_t i = 0; i < count; ++i) rank(i).stage = rank(i).recording.device % stages;
      if (stages > 1)
        note("The file contains several devices: device N is assumed to be pipeline position N.");
      return;
    }
    if (count == 1) {
      rank(0).stage = peaks.fullest();
      if (stages > 1) {
        note(
            fmt::format("The name of the file contains no rank: it is assumed to be position {}, "
                        "the fullest of the plan.",
                        rank(0).stage));
      }
      return;
    }
    const bool positions = count == stages;
    for (std::int64_t i = 0; i < count; ++i) {
      rank(i).stage = positions ? i : position(i);
      if (!positions) rank(i).rank = i;
    }
    note(fmt::format("The names of the files contain no ranks: they are assumed to be {} in order.",
                     positions ? "pipeline positions" : "ranks 0, 1, ..."));
  }

 private:
  RankSnapshotComparison& rank(std::int64_t i) { return out_.ranks[static_cast<std::size_t>(i)]; }
  void note(std::string text) { out_.notes.push_back(std::move(text)); }

  [[nodiscard]] std::int64_t position(std::int64_t rank) const {
    return rank / program_.pipeline_stride % std::ssize(program_.stages);
  }

  /// Assigns ranks and positions by file names; false, and nothing is assigned, unless each name
  /// has another rank of the job.
  bool by_name() {
    std::set<std::int64_t> ranks;
    const std::int64_t all = program_.ranks;
    for (RankSnapshotComparison& one : out_.ranks) {
      const std::int64_t named = logs::rank_in_file_name(one.file);
      if (named < 0 || named >= all || !ranks.insert(named).second) return false;
    }
    for (RankSnapshotComparison& one : out_.ranks) {
      one.rank = logs::rank_in_file_name(one.file);
      one.stage = position(one.rank);
    }
    return true;
  }

  const step::StepProgram& program_;
  SnapshotComparison& out_;
};

void note_snapshot(const AllocatorSnapshot& snapshot, SnapshotComparison& out) {
  for (const auto& [kind, count] : snapshot.unknown_events) {
    out.notes.push_back(fmt::format("{}: {} of the unknown kind \"{}\" are ignored.", snapshot.file,
                                    count_with_noun(count, "event"), kind));
  }
  for (const DeviceMemorySnapshot& recording : snapshot.devices) {
    if (recording.events == 0) {
      out.notes.push_back(fmt::format(
          "{}: no events: the peak shown is the memory in use at the time of the snapshot. To "
          "record events, call torch.cuda.memory._record_memory_history().",
          snapshot.file));
    }
    for (const FailedAllocation& failure : recording.failures) {
      out.notes.push_back(fmt::format(
          "{}: event {}: out of memory: {} were requested, {} of the device were free.",
          snapshot.file, failure.event, format_bytes(static_cast<double>(failure.bytes)),
          format_bytes(static_cast<double>(failure.free_bytes))));
    }
  }
}

Json unexplained_json(const std::vector<SameStackBlocks>& groups) {
  Json list = Json::array();
  SameStackBlocks rest{.frames = {"smaller groups"}};
  for (const SameStackBlocks& group : groups) {
    if (list.size() < kMostGroups) {
      list.push_back({{"bytes", group.bytes}, {"count", group.count}, {"frames", group.frames}});
    } else {
      rest.bytes += group.bytes;
      rest.count += group.count;
    }
  }
  if (rest.count > 0) {
    list.push_back({{"bytes", rest.bytes}, {"count", rest.count}, {"frames", rest.frames}});
  }
  return list;
}

Json missing_json(const std::vector<MissingPredictedBlocks>& groups) {
  Json list = Json::array();
  for (const MissingPredictedBlocks& group : groups) {
    list.push_back({{"tensor", group.tensor}, {"bytes", group.bytes}, {"count", group.count}});
  }
  return list;
}

Json rank_json(const RankSnapshotComparison& rank) {
  const DeviceMemorySnapshot& recording = rank.recording;
  Json json{{"file", rank.file},
            {"device", recording.device},
            {"rank", rank.rank < 0 ? Json() : Json(rank.rank)},
            {"stage", rank.stage},
            {"peak_bytes", recording.peak_bytes},
            {"at_event", recording.peak_event_index ? Json(*recording.peak_event_index) : Json()},
            {"events", recording.events},
            {"predicted_peak_bytes", rank.predicted_peak_bytes},
            {"reserved_bytes", recording.reserved_bytes},
            {"before_bytes", recording.bytes_before_first_event},
            {"matched_bytes", rank.match.matched_bytes},
            {"matched_by",
             {{"size", rank.match.by_size},
              {"layout", rank.match.by_layout},
              {"lifetime", rank.match.by_lifetime}}},
            {"unexplained", unexplained_json(rank.match.unexplained)},
            {"missing", missing_json(rank.match.missing)}};
  Json failures = Json::array();
  for (const FailedAllocation& failure : recording.failures) {
    failures.push_back(
        {{"event", failure.event}, {"bytes", failure.bytes}, {"free_bytes", failure.free_bytes}});
  }
  json["failures"] = std::move(failures);
  Json timeline = Json::array();
  for (const MemoryTimelinePoint& point : recording.timeline) {
    timeline.push_back({{"event", point.event}, {"bytes", point.bytes}});
  }
  json["timeline"] = std::move(timeline);
  return json;
}

}  // namespace

SnapshotComparison compare_snapshots(const std::vector<std::string>& files, const plan::Job& job,
                                     const step::StepProgram& program) {
  SnapshotComparison out;
  std::vector<CallStackTable> stacks;
  std::vector<std::size_t> stacks_of;
  for (const std::string& file : files) {
    AllocatorSnapshot snapshot = read_allocator_snapshot(std::filesystem::path(file));
    note_snapshot(snapshot, out);
    for (DeviceMemorySnapshot& recording : snapshot.devices) {
      out.ranks.push_back({.file = file, .recording = std::move(recording)});
      stacks_of.push_back(stacks.size());
    }
    stacks.push_back(std::move(snapshot.stacks));
  }
  PlannedPeaks peaks(job, program);
  Placing(program, out).place(peaks, files.size());
  for (std::size_t i = 0; i < out.ranks.size(); ++i) {
    RankSnapshotComparison& rank = out.ranks[i];
    const PlannedStagePeak& planned = peaks.at(rank.stage);
    rank.predicted_peak_bytes = planned.bytes;
    rank.match = match_predicted_blocks(rank.recording, stacks[stacks_of[i]], planned);
    if (rank.recording.peak_bytes > out.ranks[out.fullest].recording.peak_bytes) out.fullest = i;
  }
  return out;
}

LearnedMemoryMargins learned_margins(const SnapshotComparison& comparison,
                                     const memory::MemoryReport& report) {
  const RankSnapshotComparison& rank = comparison.ranks[comparison.fullest];
  const memory::StageMemory& stage = report.stages[static_cast<std::size_t>(rank.stage)];
  const auto kind = [&](memory::MemoryKind which) {
    return stage.kinds[static_cast<std::size_t>(which)];
  };
  const double tensors = kind(memory::MemoryKind::kActivations) +
                         kind(memory::MemoryKind::kLogits) + kind(memory::MemoryKind::kGathered) +
                         kind(memory::MemoryKind::kCommunication);
  const double accounted = stage.peak_bytes - kind(memory::MemoryKind::kReserve);
  const auto peak = static_cast<double>(rank.recording.peak_bytes);
  const double unused = static_cast<double>(rank.recording.reserved_bytes) - peak;
  return {.other_bytes = std::max(0.0, peak - accounted),
          .fragmentation = tensors > 0 ? std::clamp(unused / tensors, 0.0, 10.0) : 0};
}

Json snapshot_comparison_json(const SnapshotComparison& comparison) {
  Json ranks = Json::array();
  for (const RankSnapshotComparison& rank : comparison.ranks) ranks.push_back(rank_json(rank));
  const Json& fullest = ranks[comparison.fullest];
  Json json = Json::object();
  for (const char* key : {"file", "stage", "peak_bytes", "at_event", "predicted_peak_bytes",
                          "matched_bytes", "unexplained", "missing"}) {
    json[key] = fullest[key];
  }
  json["ranks"] = std::move(ranks);
  return json;
}

}  // namespace stepwright::snapshot
