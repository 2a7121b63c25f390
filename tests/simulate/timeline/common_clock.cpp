#include "tests/simulate/timeline/common_clock.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace stepwright::simulate {
namespace {

enum class State : std::uint8_t { kWaits, kRuns, kHeld, kEnded };

/// One operator in one schedule entry; `after`: indices of operators that must end before it.
struct Occurrence {
  OperatorKey key;
  const step::Operator* operation = nullptr;
  cost::LinkClass link = cost::LinkClass::kNone;
  schedule::Direction direction{};
  double left_s = 0;  ///< Priced seconds that remain.
  std::vector<std::size_t> after;
  State state = State::kWaits;
  Span span;

  [[nodiscard]] bool receives() const { return operation->kind == step::OperatorKind::kReceive; }
  [[nodiscard]] bool meets() const { return operation->group == plan::CommunicatorKind::kNorm; }
};

void append(std::vector<std::size_t>& to, std::span<const std::size_t> more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Lists every operator of a program with all operators for which it waits.
class Unroller {
 public:
  explicit Unroller(const Draft& draft) : draft_(draft) {}

  std::vector<Occurrence> nodes() {
    for (const step::PipelineStageProgram& stage : draft_.program.stages) {
      last_.fill({});
      for (const step::PipelineScheduleSlot& slot : stage.schedule) unroll(stage, slot);
    }
    join_messages();
    return std::move(nodes_);
  }

 private:
  void unroll(const step::PipelineStageProgram& stage, const step::PipelineScheduleSlot& slot) {
    const step::TemplateSequence& sequence = stage.sequences[slot.sequence];
    std::vector<std::size_t> fresh = last_[static_cast<int>(step::DeviceStream::kCompute)];
    if (sequence.direction == schedule::Direction::kUpdate) {
      for (const auto& last : last_) append(fresh, last);
    }
    std::vector<std::vector<std::size_t>> ends;  // Per item; its release if it has no operators.
    for (const step::TemplateSequenceItem& item : sequence.items) {
      std::vector<std::size_t> release = item.after.empty() ? fresh : std::vector<std::size_t>{};
      for (const std::int32_t other : item.after) append(release, ends[other]);
      const std::size_t first = nodes_.size();
      const step::OperatorTemplate& piece = draft_.program.templates[item.which];
      for (std::int32_t op = 0; op < std::ssize(piece.operators); ++op) {
        add({.key = {stage.position, item.which, op, slot.micro_batch},
             .operation = &piece.operators[op],
             .link = draft_.prices[item.which][op].link,
             .direction = sequence.direction,
             .left_s = draft_.prices[item.which][op].seconds,
             .after = release});
        for (const std::int32_t other : piece.after(piece.operators[op])) {
          nodes_.back().after.push_back(first + static_cast<std::size_t>(other));
        }
      }
      std::vector<std::size_t>& end = ends.emplace_back();
      for (std::size_t i = first; i < nodes_.size(); ++i) end.push_back(i);
      if (end.empty()) end = release;
    }
  }

  /// Makes an operator follow the previous one in its stream; receives are in no stream.
  void add(Occurrence node) {
    if (!node.receives()) {
      auto& last = last_[static_cast<int>(node.operation->stream)];
      append(node.after, last);
      last = {nodes_.size()};
    }
    nodes_.push_back(std::move(node));
  }

  /// Makes a receive end with the matching send: of the same micro-batch and direction, on the
  /// previous stage.
  void join_messages() {
    for (Occurrence& receive : nodes_) {
      if (!receive.receives()) continue;
      const int step = receive.direction == schedule::Direction::kBackward ? -1 : 1;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Occurrence& send = nodes_[i];
        if (send.operation->kind == step::OperatorKind::kSend &&
            send.direction == receive.direction &&
            send.key.micro_batch == receive.key.micro_batch &&
            send.key.stage + step == receive.key.stage) {
          receive.after.push_back(i);
        }
      }
    }
  }

  const Draft& draft_;
  std::vector<Occurrence> nodes_;
  /// Index of the last operator of each stream.
  std::array<std::vector<std::size_t>, step::kStreams> last_;
};

class CommonClock {
 public:
  CommonClock(const Draft& draft, const cost::OverlapSlowdownFactors& contention)
      : nodes_(Unroller(draft).nodes()), contention_(contention) {
    meetings_ = draft.program.stages.size() > 1;
  }

  std::map<OperatorKey, Span> run() {
    while (change() || pass()) {
    }
    std::map<OperatorKey, Span> spans;
    for (const Occurrence& node : nodes_) {
      if (!node.receives()) spans[node.key] = node.span;
    }
    return spans;
  }

 private:
  /// Starts and ends operators that can now; false: none can.
  bool change() {
    bool changed = false;
    for (Occurrence& node : nodes_) {
      if (node.state == State::kWaits && may_start(node)) {
        node.state = State::kRuns;
        node.span.start_s = now_s_;
        changed = true;
      }
    }
    for (Occurrence& node : nodes_) {
      if (node.state == State::kRuns && node.left_s <= 0) {
        node.state = State::kHeld;
        changed = true;
      }
      if (node.state == State::kHeld && may_end(node)) {
        node.state = State::kEnded;
        node.span.end_s = now_s_;
        changed = true;
      }
    }
    return changed;
  }

  [[nodiscard]] bool reached(const Occurrence& node) const {
    return std::all_of(node.after.begin(), node.after.end(),
                       [&](std::size_t other) { return nodes_[other].state == State::kEnded; });
  }
  [[nodiscard]] bool may_start(const Occurrence& node) const {
    if (!node.meets() || !meetings_) return reached(node);
    return std::all_of(nodes_.begin(), nodes_.end(), [&](const Occurrence& other) {
      return !other.meets() || other.state != State::kWaits || reached(other);
    });
  }
  [[nodiscard]] bool may_end(const Occurrence& node) const {
    if (!node.meets() || !meetings_) return true;
    return std::all_of(nodes_.begin(), nodes_.end(), [](const Occurrence& other) {
      return !other.meets() || other.state >= State::kHeld;
    });
  }

  /// Returns the seconds that a running operator needs per priced second.
  [[nodiscard]] double stretch(const Occurrence& node) const {
    std::array<int, cost::kLinkClasses> busy{};
    for (const Occurrence& other : nodes_) {
      const bool counts = other.state == State::kRuns && other.key.stage == node.key.stage &&
                          step::is_communication(other.operation->kind);
      if (counts) ++busy[static_cast<int>(other.link)];
    }
    if (step::is_communication(node.operation->kind)) {
      return node.link == cost::LinkClass::kNone ? 1.0 : busy[static_cast<int>(node.link)];
    }
    return std::max({1.0, busy[1] > 0 ? contention_.compute_beside_inside : 1.0,
                     busy[2] > 0 ? contention_.compute_beside_network : 1.0});
  }

  /// Advances time until the next operator ends; false: no operator runs.
  bool pass() {
    std::vector<std::pair<Occurrence*, double>> running;
    double step_s = std::numeric_limits<double>::infinity();
    for (Occurrence& node : nodes_) {
      if (node.state != State::kRuns) continue;
      running.emplace_back(&node, stretch(node));
      step_s = std::min(step_s, node.left_s * running.back().second);
    }
    constexpr double kSameInstant = 1e-12;
    for (const auto& [node, stretch] : running) {
      node->left_s -= step_s / stretch;
      if (node->left_s < kSameInstant) node->left_s = 0;
    }
    now_s_ += running.empty() ? 0 : step_s;
    return !running.empty();
  }

  std::vector<Occurrence> nodes_;
  cost::OverlapSlowdownFactors contention_;
  bool meetings_ = false;
  double now_s_ = 0;
};

}  // namespace

std::map<OperatorKey, Span> play_on_common_clock(const Draft& draft,
                                                 const cost::OverlapSlowdownFactors& contention) {
  return CommonClock(draft, contention).run();
}

}  // namespace stepwright::simulate
