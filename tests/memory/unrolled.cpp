#include "tests/memory/unrolled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace stepwright::testing {
namespace {

/// The memory of a device: buffers with an identity and a reference count.
class Heap {
 public:
  int allocate(double bytes) {
    buffers_[next_] = {bytes, 1};
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return next_++;
  }
  void hold(int buffer) { ++buffers_.at(buffer).holders; }
  void release(int buffer) {
    if (--buffers_.at(buffer).holders > 0) return;
    in_use_ -= buffers_.at(buffer).bytes;
    buffers_.erase(buffer);
  }
  [[nodiscard]] double bytes(int buffer) const { return buffers_.at(buffer).bytes; }
  [[nodiscard]] double in_use() const { return in_use_; }
  [[nodiscard]] double peak() const { return peak_; }

 private:
  struct Buffer {
    double bytes = 0;
    int holders = 0;
  };
  std::map<int, Buffer> buffers_;
  int next_ = 0;
  double in_use_ = 0;
  double peak_ = 0;
};

constexpr std::int32_t kAnyUnit = -9;

class Unroller {
 public:
  explicit Unroller(const step::StepProgram& program) : program_(program) {}

  void run(const step::TemplateSequence& sequence, const step::PipelineScheduleSlot& slot) {
    const std::size_t count = sequence.items.size();
    made_.assign(count, {});
    for (std::size_t at = 0; at < count; ++at) {
      if (const auto stream = side_stream_of(piece(sequence, at))) release_held(*stream);
      for (std::size_t later = at; later < count; ++later) {
        if (may_start(sequence, later) == at) make_ahead(piece(sequence, later), made_[later]);
      }
      const step::TemplateSequenceItem& item = sequence.items[at];
      const std::size_t back = item.beside_layer >= 0 ? 1 : item.strand;
      // Tensors that a block keeps are used by the second strand, which leaves them for its weight
      // gradients.
      Kept& last = kept_of(sequence, slot, item.units.empty() ? kAnyUnit : item.units.back(), back);
      Kept& saved =
          kept_of(sequence, slot, item.units.empty() ? kAnyUnit : item.units.front(), item.strand);
      std::vector<int> before;
      if (side_stream_of(piece(sequence, at)) == gather_stream_)
        before = std::exchange(gathered_, {});
      run_item(sequence, at, last, saved);
      for (const int buffer : before) heap_.release(buffer);
    }
    for (const int buffer : std::exchange(gathered_, {})) heap_.release(buffer);
    gather_stream_ = {};
    while (!held_.empty()) release_held(held_.begin()->first);
    for (const auto& outputs : made_) {
      for (const auto& [id, buffer] : outputs) heap_.release(buffer);
    }
  }

  Unrolled result() {
    found_.peak_bytes = heap_.peak();
    found_.left_bytes = heap_.in_use();
    return std::move(found_);
  }

 private:
  using Kept = std::vector<std::vector<int>>;
  /// Returns the tensors that a block keeps for a micro-batch of a strand. Tensors passed between
  /// chunks of one position have the same key in both.
  Kept& kept_of(const step::TemplateSequence& sequence, const step::PipelineScheduleSlot& slot,
                std::int32_t unit, std::size_t strand) {
    const std::int32_t chunk =
        unit == step::kResidualToNextChunkNumber ? 0 : sequence.chunk_of(strand);
    return kept_[{chunk, slot.micro_batch_of(strand), unit}];
  }
  using Buffers = std::map<step::TensorId, int>;

  const step::OperatorTemplate& piece(const step::TemplateSequence& sequence,
                                      std::size_t at) const {
    return program_.templates.at(static_cast<std::size_t>(sequence.items.at(at).which));
  }
  static std::optional<step::DeviceStream> side_stream_of(const step::OperatorTemplate& piece) {
    std::set<step::DeviceStream> streams;
    for (const step::Operator& op : piece.operators) streams.insert(op.stream);
    if (streams.empty() || streams.contains(step::DeviceStream::kCompute)) return std::nullopt;
    return piece.operators.front().stream;
  }
  /// True if a template reduces a copy of its inputs, which stays allocated like inputs of other
  /// messages.
  static bool reduces_gradients_from_copy(const step::OperatorTemplate& piece) {
    return !piece.operators.empty() && !piece.outputs.empty() &&
           std::ranges::all_of(piece.operators, [](const step::Operator& op) {
             return op.purpose == step::OperatorPurpose::kReduceGradients ||
                    op.kind == step::OperatorKind::kCopyToHost;
           });
  }
  /// True if a template copies parameters out of its last output, which no operator reads.
  static bool copies_gathered_parameters(const step::OperatorTemplate& piece) {
    return !piece.outputs.empty() && !reduces_gradients_from_copy(piece) &&
           piece.tensors.at(static_cast<std::size_t>(piece.outputs.back())).kind ==
               step::TensorPurpose::kCommunication &&
           std::ranges::any_of(piece.operators, [](const step::Operator& op) {
             return op.purpose == step::OperatorPurpose::kGatherParameters ||
                    op.purpose == step::OperatorPurpose::kGatherUpdated;
           });
  }
  /// Returns the position before which an overlapping item can start; for other items, a position
  /// past the end.
  std::size_t may_start(const step::TemplateSequence& sequence, std::size_t at) const {
    if (!side_stream_of(piece(sequence, at)) || copies_gathered_parameters(piece(sequence, at))) {
      return sequence.items.size();
    }
    std::size_t start = 0;
    for (const std::int32_t other : sequence.items[at].after) {
      start = std::max(start, static_cast<std::size_t>(other) + 1);
    }
    while (start < at && reduces_gradients_from_copy(piece(sequence, start))) ++start;
    return start;
  }
  void release_held(step::DeviceStream stream) {
    for (const int buffer : held_[stream]) heap_.release(buffer);
    held_.erase(stream);
  }

  double size(const step::OperatorTemplate& piece, step::TensorId id) const {
    const step::TemplateTensor& tensor = piece.tensors.at(static_cast<std::size_t>(id));
    const double mean = static_cast<double>(tensor.bytes());
    return tensor.routed ? std::ceil(mean * program_.imbalance) : mean;
  }
  void make_ahead(const step::OperatorTemplate& piece, Buffers& outputs) {
    for (const step::TensorId id : piece.outputs) outputs[id] = heap_.allocate(size(piece, id));
  }

  void run_item(const step::TemplateSequence& sequence, std::size_t at, Kept& last, Kept& saved) {
    const step::OperatorTemplate& what = piece(sequence, at);
    Buffers here = made_[at];
    restore(what, last, here);
    take_inputs(sequence, at, here);
    run_operators(what, here);
    const auto own = what.saved.end() - what.saved_beside;
    keep({what.saved.begin(), own}, saved, here);
    keep({own, what.saved.end()}, last, here);
    leave(what, here, made_[at]);
    if (copies_gathered_parameters(what)) {
      const auto made = made_[at].find(what.outputs.back());
      gather_stream_ = side_stream_of(what);
      if (gather_stream_) {
        gathered_.push_back(made->second);
      } else {
        heap_.release(made->second);
      }
      made_[at].erase(made);
    }
    if (!reduces_gradients_from_copy(what)) return;
    for (const auto& [id, buffer] : std::exchange(made_[at], {})) {
      if (const auto stream = side_stream_of(what)) {
        held_[*stream].push_back(buffer);
      } else {
        heap_.release(buffer);
      }
    }
  }

  void take_inputs(const step::TemplateSequence& sequence, std::size_t at, Buffers& here) {
    const step::OperatorTemplate& what = piece(sequence, at);
    const std::vector<step::OperatorTemplateInputSource>& sources = sequence.items[at].inputs;
    if (sources.size() != what.inputs.size()) fault(what, "inputs without a source");
    const auto stream = reduces_gradients_from_copy(what) ? std::nullopt : side_stream_of(what);
    for (std::size_t i = 0; i < what.inputs.size() && i < sources.size(); ++i) {
      const step::TensorId id = what.inputs[i];
      const step::OperatorTemplateInputSource& source = sources[i];
      if (source.item < 0) {
        fault(what, "an input that nobody makes");
        here[id] = heap_.allocate(size(what, id));
        continue;
      }
      const step::OperatorTemplate& maker = piece(sequence, static_cast<std::size_t>(source.item));
      auto& outputs = made_.at(static_cast<std::size_t>(source.item));
      const auto found = outputs.find(maker.outputs.at(static_cast<std::size_t>(source.output)));
      if (found == outputs.end()) {
        fault(what, "an input that another item took");
        continue;
      }
      here[id] = found->second;
      outputs.erase(found);
      if (heap_.bytes(here[id]) != size(what, id)) fault(what, "an input of another size");
      if (!stream) continue;
      heap_.hold(here[id]);
      held_[*stream].push_back(here[id]);
    }
  }

  void restore(const step::OperatorTemplate& what, Kept& kept, Buffers& here) {
    if (what.restored.empty()) return;
    if (kept.empty() || kept.back().size() != what.restored.size()) {
      return fault(what, "restores what was not saved");
    }
    for (std::size_t i = 0; i < what.restored.size(); ++i) {
      const int buffer = kept.back()[i];
      if (heap_.bytes(buffer) != size(what, what.restored[i])) fault(what, "restores another size");
      here[what.restored[i]] = buffer;
    }
    kept.pop_back();
  }

  void run_operators(const step::OperatorTemplate& what, Buffers& here) {
    const std::set<step::TensorId> stays = outliving(what);
    for (const step::TensorId id : stays) {
      if (!touched_after(what, 0, id)) make(what, id, here);
    }
    for (std::size_t i = 0; i < what.operators.size(); ++i) {
      const std::set<step::TensorId> touched = operands(what, i);
      for (const step::TensorId id : touched) make(what, id, here);
      for (const step::TensorId id : touched) {
        if (stays.contains(id) || touched_after(what, i + 1, id)) continue;
        heap_.release(here.at(id));
        here.erase(id);
      }
    }
  }
  void make(const step::OperatorTemplate& what, step::TensorId id, Buffers& here) {
    if (!here.contains(id)) here[id] = heap_.allocate(size(what, id));
  }

  void keep(std::span<const step::TensorId> ids, Kept& kept, const Buffers& here) {
    if (ids.empty()) return;
    kept.emplace_back();
    for (const step::TensorId id : ids) {
      heap_.hold(here.at(id));
      kept.back().push_back(here.at(id));
    }
  }

  void leave(const step::OperatorTemplate& what, const Buffers& here, Buffers& made) {
    for (const step::TensorId id : what.outputs) {
      heap_.hold(here.at(id));
      made[id] = here.at(id);
    }
    for (const auto& [id, buffer] : here) heap_.release(buffer);
  }

  static std::set<step::TensorId> outliving(const step::OperatorTemplate& piece) {
    std::set<step::TensorId> ids(piece.outputs.begin(), piece.outputs.end());
    ids.insert(piece.saved.begin(), piece.saved.end());
    return ids;
  }
  static std::set<step::TensorId> operands(const step::OperatorTemplate& piece, std::size_t at) {
    const auto reads = piece.reads(piece.operators[at]);
    const auto writes = piece.writes(piece.operators[at]);
    std::set<step::TensorId> ids(reads.begin(), reads.end());
    ids.insert(writes.begin(), writes.end());
    return ids;
  }
  static bool touched_after(const step::OperatorTemplate& piece, std::size_t from,
                            step::TensorId id) {
    for (std::size_t i = from; i < piece.operators.size(); ++i) {
      if (operands(piece, i).contains(id)) return true;
    }
    return false;
  }

  void fault(const step::OperatorTemplate& piece, const std::string& what) {
    found_.faults.push_back(piece.name + ": " + what);
  }

  const step::StepProgram& program_;
  Heap heap_;
  std::vector<Buffers> made_;  ///< For each item, outputs that no operator has read yet.
  /// Buffers of the inputs of the last item of an overlapping stream.
  std::map<step::DeviceStream, std::vector<int>> held_;
  /// Buffers of a stream's last gather, until the stream's next item is done.
  std::vector<int> gathered_;
  std::optional<step::DeviceStream> gather_stream_;
  /// Kept tensors by chunk, micro-batch and block.
  std::map<std::array<std::int32_t, 3>, Kept> kept_;
  Unrolled found_;
};

}  // namespace

Unrolled unroll(const step::StepProgram& program, const step::PipelineStageProgram& stage) {
  Unroller walk(program);
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    walk.run(stage.sequences.at(static_cast<std::size_t>(slot.sequence)), slot);
  }
  return walk.result();
}

}  // namespace stepwright::testing
