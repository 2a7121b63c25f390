#include "stepwright/step/split_backward.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {
namespace {

bool contains(std::span<const TensorId> ids, TensorId id) {
  return std::ranges::find(ids, id) != ids.end();
}

class Splitter {
 public:
  Splitter(const OperatorTemplate& piece, LayerPart part)
      : piece_(piece), part_(part), waits_(piece.operators.size()) {}

  SplitBackwardTemplates run() {
    choose();
    SplitBackwardTemplates split;
    split.data = data_part();
    split.weight = weight_part();
    return split;
  }

 private:
  [[nodiscard]] std::size_t count() const { return piece_.operators.size(); }
  [[nodiscard]] bool gathered(TensorId id) const {
    return piece_.tensors[static_cast<std::size_t>(id)].kind == TensorPurpose::kGathered;
  }

  /// Decides which operators move to the weight part.
  void choose() {
    for (std::size_t i = 0; i < count(); ++i) {
      const Operator& op = piece_.operators[i];
      waits_[i] =
          op.phase == Phase::kWeightGradient && (part_ == LayerPart::kNone || op.part == part_);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = count(); i-- > 0;) {
        if (!waits_[i] || can_wait(i)) continue;
        waits_[i] = false;
        changed = true;
      }
    }
    for (std::size_t i = count(); i-- > 0;) {
      waits_[i] = waits_[i] ||
                  (is_communication(piece_.operators[i].kind) && serves_waiting(i) && can_wait(i));
    }
  }

  /// True if operator `i` can move to the weight part: no operator of the data part needs its
  /// results or overwrites its tensors. Several operators may write gradients for a reduction, as
  /// each adds to them.
  [[nodiscard]] bool can_wait(std::size_t i) const {
    const Operator& op = piece_.operators[i];
    for (std::size_t later = i + 1; later < count(); ++later) {
      if (waits_[later]) continue;
      const Operator& other = piece_.operators[later];
      const auto after = piece_.after(other);
      if (std::ranges::find(after, static_cast<std::int32_t>(i)) != after.end()) return false;
      for (const TensorId id : piece_.writes(other)) {
        if (gathered(id)) continue;
        if (contains(piece_.reads(op), id) || contains(piece_.writes(op), id)) return false;
      }
    }
    return std::ranges::all_of(piece_.writes(op), [&](TensorId id) {
      return gathered(id) || !contains(piece_.outputs, id);
    });
  }

  /// True if some operator reads the results of operator `i`, and all that do are in the weight
  /// part.
  [[nodiscard]] bool serves_waiting(std::size_t i) const {
    bool read = false;
    for (std::size_t later = i + 1; later < count(); ++later) {
      for (const TensorId id : piece_.writes(piece_.operators[i])) {
        if (!contains(piece_.reads(piece_.operators[later]), id)) continue;
        if (!waits_[later]) return false;
        read = true;
      }
    }
    return read;
  }

  /// Marks the tensors that the weight part (`by_waiting`) or the data part reads or writes.
  [[nodiscard]] std::vector<bool> touched(bool by_waiting) const {
    std::vector<bool> ids(piece_.tensors.size(), false);
    for (std::size_t i = 0; i < count(); ++i) {
      if (waits_[i] != by_waiting) continue;
      const Operator& op = piece_.operators[i];
      for (const TensorId id : piece_.reads(op)) ids[static_cast<std::size_t>(id)] = true;
      for (const TensorId id : piece_.writes(op)) ids[static_cast<std::size_t>(id)] = true;
    }
    return ids;
  }

  /// Appends the operators of one part; `place` gives the id of each tensor in the new template.
  void append(OperatorTemplateBuilder& out, bool waiting,
              const std::vector<TensorId>& place) const {
    const auto placed = [&](std::span<const TensorId> ids) {
      std::vector<TensorId> result;
      for (const TensorId id : ids) result.push_back(place[static_cast<std::size_t>(id)]);
      return result;
    };
    std::vector<std::int32_t> index(count(), -1);
    for (std::size_t i = 0; i < count(); ++i) {
      if (waits_[i] != waiting) continue;
      const Operator& op = piece_.operators[i];
      std::vector<std::int32_t> after;
      for (const std::int32_t other : piece_.after(op)) {
        after.push_back(index[static_cast<std::size_t>(other)]);
      }
      index[i] = out.add(op, placed(piece_.reads(op)), placed(piece_.writes(op)), after);
    }
  }

  OperatorTemplate data_part() {
    const std::vector<bool> here = touched(false);
    const std::vector<bool> later = touched(true);
    OperatorTemplateBuilder out(piece_.name + ".data", piece_.parameters);
    std::vector<TensorId> place(piece_.tensors.size(), -1);
    for (std::size_t i = 0; i < place.size(); ++i) {
      const auto id = static_cast<TensorId>(i);
      const bool given = contains(piece_.inputs, id) || contains(piece_.restored, id);
      const bool made = here[i] || given || (contains(piece_.outputs, id) && !later[i]);
      if (!made) continue;
      place[i] = out.tensor(piece_.tensors[i]);
      if (contains(piece_.inputs, id)) out.piece().inputs.push_back(place[i]);
      if (!later[i]) continue;
      out.piece().saved.push_back(place[i]);
      crossing_.push_back(id);
    }
    for (const TensorId id : piece_.restored) {
      out.piece().restored.push_back(place[static_cast<std::size_t>(id)]);
    }
    append(out, false, place);
    for (const TensorId id : piece_.outputs) {
      if (!leaves_late(id, later)) out.output(place[static_cast<std::size_t>(id)]);
    }
    return std::move(out.piece());
  }

  /// True if a tensor holds gradients for a reduction and the weight part adds to it.
  [[nodiscard]] bool leaves_late(TensorId id, const std::vector<bool>& later) const {
    return gathered(id) && later[static_cast<std::size_t>(id)];
  }

  OperatorTemplate weight_part() const {
    const std::vector<bool> here = touched(true);
    OperatorTemplateBuilder out(piece_.name + ".weight", piece_.parameters);
    std::vector<TensorId> place(piece_.tensors.size(), -1);
    for (const TensorId id : crossing_) {
      place[static_cast<std::size_t>(id)] =
          out.tensor(piece_.tensors[static_cast<std::size_t>(id)]);
      out.piece().restored.push_back(place[static_cast<std::size_t>(id)]);
    }
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (here[i] && place[i] < 0) place[i] = out.tensor(piece_.tensors[i]);
    }
    append(out, true, place);
    for (const TensorId id : piece_.outputs) {
      if (leaves_late(id, here)) out.output(place[static_cast<std::size_t>(id)]);
    }
    return std::move(out.piece());
  }

  const OperatorTemplate& piece_;
  LayerPart part_;
  std::vector<bool> waits_;
  std::vector<TensorId> crossing_;  ///< Tensors that the data part saves for the weight part.
};

}  // namespace

SplitBackwardTemplates split_backward(const OperatorTemplate& backward, LayerPart part) {
  return Splitter(backward, part).run();
}

}  // namespace stepwright::step
