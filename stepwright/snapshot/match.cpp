#include "stepwright/snapshot/match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "stepwright/snapshot/module_words.h"

namespace stepwright::snapshot {
namespace {

using memory::MemoryKind;
using memory::PredictedAllocation;

/// The smallest buffer that is matched to a sum of several blocks; smaller sums would match by
/// chance.
constexpr std::int64_t kLeastBuffer = std::int64_t{1} << 20;
/// Most padding at the end of a flat buffer, which is a multiple of the ranks that share it.
constexpr std::int64_t kMostPadding = 512;

bool is_state(const PredictedAllocation& block) {
  return block.kind == MemoryKind::kParameters || block.kind == MemoryKind::kGradients ||
         block.kind == MemoryKind::kOptimizer;
}

class Matching {
 public:
  Matching(const DeviceMemorySnapshot& recording, const CallStackTable& stacks,
           const PlannedStagePeak& planned)
      : run_(recording.at_peak),
        stacks_(stacks),
        plan_(planned.blocks),
        run_open_(run_.size(), 1),
        plan_open_(plan_.size(), 1) {}

  SnapshotBlockMatch match() {
    find_sizes();
    pair_all(Likeness::kModule);
    pair_all(Likeness::kAge);
    for (const MemoryKind kind :
         {MemoryKind::kParameters, MemoryKind::kGradients, MemoryKind::kOptimizer}) {
      flat_buffers(kind);
      pieces(kind);
    }
    pair_all(Likeness::kSize);
    by_lifetime();
    result_.matched_bytes = result_.by_size + result_.by_layout + result_.by_lifetime;
    name_unexplained();
    name_missing();
    return std::move(result_);
  }

 private:
  /// The properties that paired blocks of equal size must share.
  enum class Likeness : std::uint8_t {
    kModule,  ///< Blocks of equal age and equal module are paired.
    kAge,  ///< Blocks from before the recording are paired with states, other blocks with others.
    kSize,
  };
  struct OfSize {
    std::vector<std::size_t> run, plan;
  };
  using Kinship = std::pair<bool, StackModuleKind>;

  void find_sizes() {
    for (std::size_t i = 0; i < run_.size(); ++i) {
      sizes_[run_[i].bytes].run.push_back(i);
      has_older_ = has_older_ || run_[i].event < 0;
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      const auto found = sizes_.find(plan_[i].bytes);
      if (found != sizes_.end()) found->second.plan.push_back(i);
    }
  }

  void pair_all(Likeness likeness) {
    for (const auto& [bytes, blocks] : sizes_) pair_up(blocks, likeness);
  }

  /// Pairs blocks of one size in order.
  void pair_up(const OfSize& blocks, Likeness likeness) {
    const auto kinship = [&](bool state, StackModuleKind module) {
      return Kinship{likeness != Likeness::kSize && has_older_ && state,
                     likeness == Likeness::kModule ? module : StackModuleKind::kUnknown};
    };
    std::map<Kinship, std::vector<std::size_t>> waiting;
    for (std::size_t i = blocks.plan.size(); i-- > 0;) {
      const std::size_t plan = blocks.plan[i];
      if (plan_open_[plan] == 0) continue;
      waiting[kinship(is_state(plan_[plan]), stack_module_kind_by_name(plan_[plan].part))]
          .push_back(plan);
    }
    for (const std::size_t run : blocks.run) {
      if (run_open_[run] == 0) continue;
      const StackModuleKind module = module_in(run_[run].what);
      if (likeness == Likeness::kModule && module == StackModuleKind::kUnknown) continue;
      std::vector<std::size_t>& candidates = waiting[kinship(run_[run].event < 0, module)];
      if (candidates.empty()) continue;
      close_plan(candidates.back());
      candidates.pop_back();
      close_run(run, result_.by_size);
    }
  }

  /// Returns the module that the innermost frame with a module names.
  StackModuleKind module_in(std::uint64_t stack) {
    const auto [found, fresh] = modules_.emplace(stack, StackModuleKind::kUnknown);
    if (!fresh) return found->second;
    for (const FrameId frame : stacks_.frames(static_cast<StackId>(stack))) {
      found->second = stack_module_kind_by_name(stacks_.text(frame));
      if (found->second != StackModuleKind::kUnknown) break;
    }
    return found->second;
  }

  /// True if a block (index `run`) may hold states: if the recording has older blocks, only those
  /// may.
  bool may_be_states(std::size_t run) const {
    return run_open_[run] != 0 && (!has_older_ || run_[run].event < 0);
  }

  std::vector<std::size_t> open_states(MemoryKind kind) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_open_[i] != 0 && plan_[i].kind == kind) open.push_back(i);
    }
    return open;
  }
  std::vector<std::size_t> open_buffers() const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < run_.size(); ++i) {
      if (may_be_states(i) && run_[i].bytes >= kLeastBuffer) open.push_back(i);
    }
    return open;
  }

  /// Matches blocks that hold the states of one kind of neighbouring units: one layer, several, or
  /// all. Sums that begin or end inside of a unit would match by chance.
  void flat_buffers(MemoryKind kind) {
    std::vector<std::size_t> buffers = open_buffers();
    std::ranges::stable_sort(
        buffers, [&](std::size_t a, std::size_t b) { return run_[a].bytes > run_[b].bytes; });
    std::vector<std::vector<std::size_t>> units;
    std::vector<std::int64_t> sizes;
    const auto find_open = [&] {
      units = by_unit(open_states(kind));
      sizes.assign(units.size(), 0);
      for (std::size_t i = 0; i < units.size(); ++i) {
        for (const std::size_t state : units[i]) sizes[i] += plan_[state].bytes;
      }
    };
    find_open();
    for (const std::size_t buffer : buffers) {
      const std::int64_t most = run_[buffer].bytes;
      const auto [first, last] = stretch(sizes, most - most / kMostPadding, most);
      if (first == last) continue;
      for (std::size_t i = first; i < last; ++i) {
        for (const std::size_t state : units[i]) close_plan(state);
      }
      close_run(buffer, result_.by_layout);
      find_open();
    }
  }

  /// Groups neighbouring states of one unit.
  std::vector<std::vector<std::size_t>> by_unit(const std::vector<std::size_t>& states) const {
    std::vector<std::vector<std::size_t>> units;
    for (const std::size_t state : states) {
      if (units.empty() || plan_[units.back().back()].unit != plan_[state].unit) {
        units.emplace_back();
      }
      units.back().push_back(state);
    }
    return units;
  }

  /// Matches states that a run holds in several blocks, as queries, keys and values apart.
  void pieces(MemoryKind kind) {
    for (const std::size_t state : open_states(kind)) {
      const std::int64_t bytes = plan_[state].bytes;
      if (bytes < kLeastBuffer) continue;
      std::vector<std::size_t> open;
      std::vector<std::int64_t> sizes;
      for (std::size_t i = 0; i < run_.size(); ++i) {
        if (!may_be_states(i) || run_[i].bytes >= bytes) continue;
        open.push_back(i);
        sizes.push_back(run_[i].bytes);
      }
      const auto [first, last] = stretch(sizes, bytes, bytes);
      if (first == last) continue;
      for (std::size_t i = first; i < last; ++i) close_run(open[i], result_.by_layout);
      close_plan(state);
    }
  }

  /// Returns the first stretch of neighbours whose sum lies between two numbers, as long as
  /// possible; empty if there is none.
  static std::pair<std::size_t, std::size_t> stretch(std::span<const std::int64_t> sizes,
                                                     std::int64_t least, std::int64_t most) {
    std::int64_t sum = 0;
    for (std::size_t first = 0, last = 0; last < sizes.size();) {
      sum += sizes[last++];
      while (sum > most && first < last) sum -= sizes[first++];
      if (sum < least || first == last) continue;
      while (last < sizes.size() && sum + sizes[last] <= most) sum += sizes[last++];
      return {first, last};
    }
    return {0, 0};
  }

  void by_lifetime() {
    std::int64_t states = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_open_[i] != 0 && is_state(plan_[i])) states += plan_[i].bytes;
    }
    std::vector<std::size_t> older;
    for (std::size_t i = 0; i < run_.size(); ++i) {
      if (run_open_[i] != 0 && run_[i].event < 0) older.push_back(i);
    }
    std::ranges::stable_sort(
        older, [&](std::size_t a, std::size_t b) { return run_[a].bytes > run_[b].bytes; });
    for (const std::size_t run : older) {
      if (run_[run].bytes > states) continue;
      states -= run_[run].bytes;
      close_run(run, result_.by_lifetime);
    }
  }

  void name_unexplained() {
    std::vector<MemoryBlock> open;
    for (std::size_t i = 0; i < run_.size(); ++i) {
      if (run_open_[i] != 0) open.push_back(run_[i]);
    }
    result_.unexplained = group_memory_blocks_by_call_stack(stacks_, open);
  }

  void name_missing() {
    std::map<std::string, MissingPredictedBlocks> by_name;
    std::int64_t states = 0, states_count = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_open_[i] == 0) continue;
      if (result_.by_lifetime > 0 && is_state(plan_[i])) {
        // Blocks matched by lifetime only do not say which states they hold.
        states += plan_[i].bytes;
        ++states_count;
        continue;
      }
      MissingPredictedBlocks& group = by_name[memory::allocation_name(plan_[i])];
      group.bytes += plan_[i].bytes;
      ++group.count;
    }
    if (states > result_.by_lifetime) {
      by_name["model states"] = {.bytes = states - result_.by_lifetime, .count = states_count};
    }
    for (auto& [name, group] : by_name) {
      group.tensor = name;
      result_.missing.push_back(std::move(group));
    }
    std::ranges::stable_sort(result_.missing, std::greater<>(), &MissingPredictedBlocks::bytes);
  }

  void close_run(std::size_t run, std::int64_t& bytes) {
    run_open_[run] = 0;
    bytes += run_[run].bytes;
  }
  void close_plan(std::size_t plan) { plan_open_[plan] = 0; }

  std::span<const MemoryBlock> run_;
  const CallStackTable& stacks_;
  std::span<const PredictedAllocation> plan_;
  std::vector<char> run_open_, plan_open_;
  std::map<std::int64_t, OfSize> sizes_;
  bool has_older_ = false;  ///< True if the run has blocks from before the recording.
  std::unordered_map<std::uint64_t, StackModuleKind> modules_;  ///< Modules by their stack.
  SnapshotBlockMatch result_;
};

}  // namespace

std::vector<SameStackBlocks> group_memory_blocks_by_call_stack(
    const CallStackTable& stacks, std::span<const MemoryBlock> blocks) {
  std::map<std::vector<std::string>, SameStackBlocks> by_frames;
  for (const MemoryBlock& block : blocks) {
    std::vector<std::string> frames =
        call_stack_frames_to_show(stacks, static_cast<StackId>(block.what));
    SameStackBlocks& group = by_frames[frames];
    group.frames = std::move(frames);
    group.bytes += block.bytes;
    ++group.count;
  }
  std::vector<SameStackBlocks> groups;
  for (auto& [frames, group] : by_frames) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater<>(), &SameStackBlocks::bytes);
  return groups;
}

SnapshotBlockMatch match_predicted_blocks(const DeviceMemorySnapshot& recording,
                                          const CallStackTable& stacks,
                                          const PlannedStagePeak& planned) {
  return Matching(recording, stacks, planned).match();
}

}  // namespace stepwright::snapshot
