#include "tests/simulate/timeline/random_program.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace stepwright::simulate {
namespace {

class Generator {
 public:
  Generator(std::uint32_t seed, const RandomOptions& options) : random_(seed), options_(options) {}

  Draft program() {
    const int stages = pick(1, 4);
    const int micro_batches = pick(1, 4);
    for (int s = 0; s < stages; ++s) {
      step::PipelineStageProgram& stage = draft_.stage();
      const std::int32_t forward = pass(stage, false, s > 0, s + 1 < stages);
      const std::int32_t backward = pass(stage, true, s + 1 < stages, s > 0);
      const Pipeline order{.forward_s = std::vector<double>(stages, 1.0),
                           .micro_batches = micro_batches};
      for (const std::int32_t turn : pipeline_order(order, s)) {
        stage.schedule.push_back({turn < 0 ? backward : forward, turn < 0 ? -1 - turn : turn});
      }
      stage.schedule.push_back({update(stage), -1});
    }
    return std::move(draft_);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  double seconds() { return pick(0, 4) == 0 ? 0.0 : pick(1, 1000) * 0.001; }

  /// Returns an operator on a random stream, which waits for some of the previous ones.
  Line line(int index) {
    static constexpr step::DeviceStream kMessages[] = {
        step::DeviceStream::kTensor, step::DeviceStream::kContext, step::DeviceStream::kExpert,
        step::DeviceStream::kGather, step::DeviceStream::kReduce};
    static constexpr step::ParallelismScheme kOwn[] = {
        step::ParallelismScheme::kTensor, step::ParallelismScheme::kContext,
        step::ParallelismScheme::kExpert, step::ParallelismScheme::kData,
        step::ParallelismScheme::kControl};
    Line line = computation(seconds());
    if (pick(0, 2) == 0) {
      const int which = pick(0, 4);
      line = tensor_message(seconds());
      line.stream = pick(0, 5) == 0 ? step::DeviceStream::kCompute : kMessages[which];
      line.scheme = kOwn[which];
      line.link =
          options_.shared_links ? static_cast<cost::LinkClass>(pick(0, 2)) : cost::LinkClass::kNone;
    }
    for (int other = 0; other < index; ++other) {
      if (pick(0, index) == 0) line.after.push_back(other);
    }
    return line;
  }

  std::vector<Line> lines() {
    std::vector<Line> lines(pick(0, 7));
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = line(static_cast<int>(i));
    return lines;
  }

  /// Adds items, some of which wait for earlier ones and some for none.
  std::int32_t pass(step::PipelineStageProgram& stage, bool backward, bool receives, bool sends) {
    step::TemplateSequence sequence{.direction = backward ? schedule::Direction::kBackward
                                                          : schedule::Direction::kForward};
    const auto append = [&](step::TemplateId which, bool waits) {
      step::TemplateSequenceItem item{.which = which, .layer = 0, .after = {}, .inputs = {}};
      for (std::int32_t other = 0; waits && other < std::ssize(sequence.items); ++other) {
        if (pick(0, 1) == 0 || other + 1 == std::ssize(sequence.items)) item.after.push_back(other);
      }
      sequence.items.push_back(std::move(item));
    };
    if (receives) {
      std::vector<Line> first = lines();
      first.insert(first.begin(), receive(backward));
      for (std::size_t i = 1; i < first.size(); ++i) {
        for (std::int32_t& other : first[i].after) ++other;
        if (pick(0, 1) == 0) first[i].after.push_back(0);
      }
      append(draft_.add(first), false);
    }
    for (int i = pick(0, 3); i > 0; --i) {
      // Compilers evaluate arguments of a call in different orders.
      const step::TemplateId which = draft_.add(lines());
      append(which, pick(0, 3) > 0);
    }
    append(draft_.add({computation(seconds())}), true);
    if (sends) {
      Line out = send(seconds(), backward);
      if (options_.shared_links) out.link = cost::LinkClass::kNetwork;
      if (pick(0, 3) == 0) out.stream = step::DeviceStream::kCompute;
      append(draft_.add({out}), true);
    }
    stage.sequences.push_back(std::move(sequence));
    return static_cast<std::int32_t>(stage.sequences.size() - 1);
  }

  std::int32_t update(step::PipelineStageProgram& stage) {
    std::vector<Line> all = lines();
    Line norm = reduction(0.25);
    if (!options_.shared_links) norm.link = cost::LinkClass::kNone;
    norm.group = plan::CommunicatorKind::kNorm;
    norm.stream = step::DeviceStream::kCompute;
    all.push_back(norm);
    return chain(stage, schedule::Direction::kUpdate, {draft_.add(all), draft_.add(lines())});
  }

  std::mt19937 random_;
  RandomOptions options_;
  Draft draft_;
};

/// Computes earliest end times by recursion with stored results.
class Recursion {
 public:
  explicit Recursion(const Draft& draft) : draft_(draft) {}

  double stage_end(int stage) {
    double end = 0;
    const step::PipelineStageProgram& part = draft_.program.stages[stage];
    for (int slot = 0; slot < std::ssize(part.schedule); ++slot) {
      end = std::max(end, slot_end(stage, slot, -1));
    }
    return end;
  }

 private:
  [[nodiscard]] const step::TemplateSequence& sequence(int stage, int slot) const {
    const step::PipelineStageProgram& part = draft_.program.stages[stage];
    return part.sequences[part.schedule[slot].sequence];
  }
  [[nodiscard]] const step::OperatorTemplate& piece(int stage, int slot, int item) const {
    return draft_.program.templates[sequence(stage, slot).items[item].which];
  }

  /// Returns when a slot's operators on a stream have ended; -1: on all streams. Receives are in no
  /// stream.
  double slot_end(int stage, int slot, int stream) {
    double end = 0;
    for (int item = 0; item < std::ssize(sequence(stage, slot).items); ++item) {
      const auto& operators = piece(stage, slot, item).operators;
      for (int op = 0; op < std::ssize(operators); ++op) {
        if (operators[op].kind == step::OperatorKind::kReceive) continue;
        const bool counts = stream < 0 || static_cast<int>(operators[op].stream) == stream;
        if (counts) end = std::max(end, operator_end(stage, slot, item, op));
      }
    }
    return end;
  }

  double release(int stage, int slot, int item) {
    double time = 0;
    const auto& after = sequence(stage, slot).items[item].after;
    for (const std::int32_t other : after) time = std::max(time, item_end(stage, slot, other));
    if (!after.empty()) return time;
    const bool update = sequence(stage, slot).direction == schedule::Direction::kUpdate;
    for (int s = 0; s < slot; ++s) time = std::max(time, slot_end(stage, s, update ? -1 : 0));
    return time;
  }

  double item_end(int stage, int slot, int item) {
    double end = release(stage, slot, item);
    for (int op = 0; op < std::ssize(piece(stage, slot, item).operators); ++op) {
      end = std::max(end, operator_end(stage, slot, item, op));
    }
    return end;
  }

  double operator_end(int stage, int slot, int item, int op) {
    const auto key = std::tuple(stage, slot, item, op);
    if (const auto found = ends_.find(key); found != ends_.end()) return found->second;
    const step::Operator& self = piece(stage, slot, item).operators[op];
    double start = 0;
    double seconds = 0;
    if (self.kind == step::OperatorKind::kReceive) {
      start = arrival(stage, slot);
    } else {
      start = ready(stage, slot, item, op);
      seconds = draft_.prices[sequence(stage, slot).items[item].which][op].seconds;
    }
    if (self.group == plan::CommunicatorKind::kNorm) {
      for (int other = 0; other < std::ssize(draft_.program.stages); ++other) {
        start = std::max(start, norm_ready(other));
      }
    }
    return ends_[key] = start + seconds;
  }

  /// Returns when an operator could start if only its own stage mattered.
  double ready(int stage, int slot, int item, int op) {
    const step::OperatorTemplate& self = piece(stage, slot, item);
    double time = std::max(release(stage, slot, item), before(stage, slot, item, op));
    for (const std::int32_t other : self.after(self.operators[op])) {
      time = std::max(time, operator_end(stage, slot, item, other));
    }
    return time;
  }

  /// Returns when the previous operator in its stream has ended.
  double before(int stage, int slot, int item, int op) {
    const step::DeviceStream stream = piece(stage, slot, item).operators[op].stream;
    while (true) {
      while (--op < 0) {
        while (--item < 0) {
          if (--slot < 0) return 0;
          item = static_cast<int>(std::ssize(sequence(stage, slot).items));
        }
        op = static_cast<int>(std::ssize(piece(stage, slot, item).operators));
      }
      const step::Operator& other = piece(stage, slot, item).operators[op];
      if (other.stream == stream && other.kind != step::OperatorKind::kReceive) {
        return operator_end(stage, slot, item, op);
      }
    }
  }

  /// Returns when the matching send (of the same micro-batch, on the neighbour) has ended.
  double arrival(int stage, int slot) {
    const bool backward = sequence(stage, slot).direction == schedule::Direction::kBackward;
    const int from = backward ? stage + 1 : stage - 1;
    const step::PipelineStageProgram& part = draft_.program.stages[from];
    for (int s = 0; s < std::ssize(part.schedule); ++s) {
      if (part.schedule[s].micro_batch != draft_.program.stages[stage].schedule[slot].micro_batch ||
          sequence(from, s).direction != sequence(stage, slot).direction) {
        continue;
      }
      const int item = static_cast<int>(std::ssize(sequence(from, s).items)) - 1;
      return operator_end(from, s, item, 0);
    }
    return -1;
  }

  double norm_ready(int stage) {
    const auto slot = static_cast<int>(std::ssize(draft_.program.stages[stage].schedule)) - 1;
    const auto last = static_cast<int>(std::ssize(piece(stage, slot, 0).operators)) - 1;
    return ready(stage, slot, 0, last);
  }

  const Draft& draft_;
  std::map<std::tuple<int, int, int, int>, double> ends_;
};

}  // namespace

Draft random_program(std::uint32_t seed, const RandomOptions& options) {
  return Generator(seed, options).program();
}

std::vector<double> ends_without_contention(const Draft& draft) {
  Recursion recursion(draft);
  std::vector<double> ends;
  for (int s = 0; s < std::ssize(draft.program.stages); ++s) {
    ends.push_back(recursion.stage_end(s));
  }
  return ends;
}

}  // namespace stepwright::simulate
