#include "stepwright/snapshot/write_snapshot.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/memory/allocations.h"
#include "stepwright/snapshot/pickle_writer.h"

namespace stepwright::snapshot {
namespace {

using memory::PredictedAllocation;

/// The caching allocator rounds blocks up to a multiple of this. Source: pytorch
/// c10/core/CachingDeviceAllocator.h (c10/cuda/CUDACachingAllocator.cpp before 2.10),
/// kMinBlockSize.
constexpr std::int64_t kBlockGrain = 512;
/// Address at which a device's only segment begins.
constexpr std::int64_t kSegmentAddress = std::int64_t{0x7f} << 40;

/// Assigns addresses to blocks in one segment that grows at its end: a block takes the smallest gap
/// that is large enough.
class Segments {
 public:
  std::int64_t allocate(std::int64_t bytes) {
    const auto gap = by_size_.lower_bound({bytes, 0});
    if (gap == by_size_.end()) {
      end_ += bytes;
      return end_ - bytes;
    }
    const auto [size, address] = *gap;
    remove(address, size);
    if (size > bytes) add(address + bytes, size - bytes);
    return address;
  }
  void free(std::int64_t address, std::int64_t bytes) {
    const auto next = gaps_.lower_bound(address);
    std::int64_t first = address, last = address + bytes;
    if (next != gaps_.end() && next->first == last) {
      last += next->second;
      remove(next->first, next->second);
    }
    const auto before = gaps_.lower_bound(address);
    if (before != gaps_.begin()) {
      const auto [start, size] = *std::prev(before);
      if (start + size == address) {
        first = start;
        remove(start, size);
      }
    }
    add(first, last - first);
  }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  void add(std::int64_t address, std::int64_t size) {
    gaps_[address] = size;
    by_size_.insert({size, address});
  }
  void remove(std::int64_t address, std::int64_t size) {
    by_size_.erase({size, address});
    gaps_.erase(address);
  }

  std::map<std::int64_t, std::int64_t> gaps_;  ///< Size of each gap, by address.
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

struct PlacedBlock {
  PredictedAllocation block;
  std::int64_t address = 0;
  std::int64_t size = 0;  ///< Bytes of the block, rounded up.
};

class SnapshotWriter {
 public:
  explicit SnapshotWriter(PickleWriter& out) : out_(out) {}

  void trace(const plan::Job& job, const step::StepProgram& program,
             const step::PipelineStageProgram& stage) {
    segments_ = {};
    in_use_.clear();
    recording_ = false;
    out_.open_list();
    memory::visit_predicted_allocations(
        job, program, stage,
        {.allocate = [&](std::int64_t number,
                         const PredictedAllocation& block) { allocate(number, block); },
         .free = [&](std::int64_t number) { free(number); },
         .begin_step = [&] { recording_ = true; }});
    out_.close_list();
    std::vector<PlacedBlock> left;
    for (const auto& [number, placed] : in_use_) left.push_back(placed);
    std::ranges::sort(left, {}, &PlacedBlock::address);
    ends_.push_back({std::move(left), segments_.end()});
  }

  void segments() {
    out_.open_list();
    for (std::size_t device = 0; device < ends_.size(); ++device) segment(device);
    out_.close_list();
  }

 private:
  struct End {
    std::vector<PlacedBlock> blocks;
    std::int64_t bytes = 0;
  };

  void allocate(std::int64_t number, const PredictedAllocation& block) {
    const std::int64_t size = (block.bytes + kBlockGrain - 1) / kBlockGrain * kBlockGrain;
    const PlacedBlock& placed =
        in_use_.insert_or_assign(number, PlacedBlock{block, segments_.allocate(size), size})
            .first->second;
    if (recording_) event("alloc", placed);
  }

  void free(std::int64_t number) {
    const auto found = in_use_.find(number);
    segments_.free(found->second.address, found->second.size);
    if (recording_) {
      event("free_requested", found->second);
      event("free_completed", found->second);
    }
    in_use_.erase(found);
  }

  void field(std::string_view key, std::int64_t value) {
    out_.text(key);
    out_.integer(value);
  }
  void field(std::string_view key, std::string_view value) {
    out_.text(key);
    out_.text(value);
  }

  void event(std::string_view action, const PlacedBlock& placed) {
    out_.open_mapping();
    field("action", action);
    field("addr", kSegmentAddress + placed.address);
    field("size", placed.block.bytes);
    field("stream", 0);
    out_.text("frames");
    frames(placed.block);
    out_.close_mapping();
  }

  void frames(const PredictedAllocation& block) {
    const auto key = std::tuple(block.unit, block.part, block.tensor);
    if (const auto known = stacks_.find(key); known != stacks_.end()) {
      return out_.write_memoized_pickle_value(known->second);
    }
    out_.open_list();
    frame(block.part, block.tensor);
    const std::string unit = memory::model_block_name(block.unit);
    if (!unit.empty()) frame("", unit);
    out_.close_list();
    stacks_[key] = out_.memoize_pickle_value();
  }
  void frame(std::string_view file, std::string_view name) {
    out_.open_mapping();
    field("filename", file);
    field("line", 0);
    field("name", name);
    out_.close_mapping();
  }

  void segment(std::size_t device) {
    const End& end = ends_[device];
    out_.open_mapping();
    field("device", static_cast<std::int64_t>(device));
    field("address", kSegmentAddress);
    field("total_size", end.bytes);
    field("allocated_size", sum(end, &PlacedBlock::size));
    field("active_size", sum(end, &PlacedBlock::size));
    std::int64_t requested = 0;
    for (const PlacedBlock& placed : end.blocks) requested += placed.block.bytes;
    field("requested_size", requested);
    field("stream", 0);
    field("segment_type", "large");
    out_.text("blocks");
    blocks(end);
    out_.close_mapping();
  }
  static std::int64_t sum(const End& end, std::int64_t PlacedBlock::* value) {
    std::int64_t all = 0;
    for (const PlacedBlock& placed : end.blocks) all += placed.*value;
    return all;
  }

  void blocks(const End& end) {
    out_.open_list();
    std::int64_t at = 0;
    for (const PlacedBlock& placed : end.blocks) {
      gap(at, placed.address);
      out_.open_mapping();
      field("address", kSegmentAddress + placed.address);
      field("size", placed.size);
      field("requested_size", placed.block.bytes);
      field("state", "active_allocated");
      out_.text("frames");
      frames(placed.block);
      out_.close_mapping();
      at = placed.address + placed.size;
    }
    gap(at, end.bytes);
    out_.close_list();
  }
  void gap(std::int64_t first, std::int64_t last) {
    if (first == last) return;
    out_.open_mapping();
    field("address", kSegmentAddress + first);
    field("size", last - first);
    field("requested_size", 0);
    field("state", "inactive");
    out_.text("frames");
    out_.open_list();
    out_.close_list();
    out_.close_mapping();
  }

  PickleWriter& out_;
  Segments segments_;
  std::map<std::int64_t, PlacedBlock> in_use_;  ///< Blocks in use, by number.
  bool recording_ = false;
  std::vector<End> ends_;  ///< The end state of each device's trace.
  std::map<std::tuple<std::int32_t, std::string_view, std::string_view>, std::uint32_t>
      stacks_;  ///< Numbers under which lists of frames were written, to repeat them.
};

}  // namespace

void write_predicted_snapshot(const plan::Job& job, const step::StepProgram& program,
                              const std::function<void(std::string_view bytes)>& sink) {
  PickleWriter out(sink);
  SnapshotWriter writer(out);
  out.open_mapping();
  out.text("device_traces");
  out.open_list();
  for (const step::PipelineStageProgram& stage : program.stages) writer.trace(job, program, stage);
  out.close_list();
  out.text("segments");
  writer.segments();
  out.text("allocator_settings");
  out.open_mapping();
  out.close_mapping();
  out.close_mapping();
  out.end();
}

}  // namespace stepwright::snapshot
