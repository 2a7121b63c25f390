#include "stepwright/step/prune.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {
namespace {

/// A backward template, its needed tensors and the operators that compute them.
class Pruner {
 public:
  Pruner(const OperatorTemplate& piece, bool gradient_goes_on, bool reruns)
      : piece_(piece),
        goes_on_(gradient_goes_on),
        reruns_(reruns),
        needed_(piece.tensors.size(), false),
        stays_(piece.operators.size(), false) {
    for (const TensorId id : piece_.outputs) {
      if (goes_on_ && !leaves(id)) need(id);
    }
    for (std::size_t i = piece_.operators.size(); i-- > 0;) {
      const Operator& op = piece_.operators[i];
      stays_[i] = asked(op) || writes_needed(op);
      if (!stays_[i]) continue;
      for (const TensorId id : piece_.reads(op)) need(id);
    }
  }

  /// True if a remaining operator reads a tensor, or it is an output that remains.
  [[nodiscard]] bool needs(TensorId id) const { return needed_[static_cast<std::size_t>(id)]; }

  [[nodiscard]] OperatorTemplate rest() const {
    OperatorTemplateBuilder out(piece_.name, piece_.parameters);
    if (std::ranges::none_of(stays_, [](bool stays) { return stays; })) {
      return std::move(out.piece());
    }
    const std::vector<TensorId> place = place_tensors(out);
    append(out, place);
    for (const TensorId id : piece_.outputs) {
      if (goes_on_ || leaves(id)) out.output(place[static_cast<std::size_t>(id)]);
    }
    return std::move(out.piece());
  }

 private:
  void need(TensorId id) { needed_[static_cast<std::size_t>(id)] = true; }

  /// True if a tensor holds weight gradients for a reduction.
  [[nodiscard]] bool leaves(TensorId id) const {
    return piece_.tensors[static_cast<std::size_t>(id)].kind == TensorPurpose::kGathered;
  }

  [[nodiscard]] bool asked(const Operator& op) const {
    if (!is_backward_phase(op.phase)) return reruns_ && op.phase == Phase::kRecompute;
    const bool product =
        op.kind == OperatorKind::kLinear || op.kind == OperatorKind::kGroupedLinear;
    if (op.parameter < 0 || op.kind == OperatorKind::kDequantize) return false;
    if (product && op.phase != Phase::kWeightGradient) return false;
    return !piece_.parameters[static_cast<std::size_t>(op.parameter)].frozen;
  }

  [[nodiscard]] bool writes_needed(const Operator& op) const {
    return std::ranges::any_of(piece_.writes(op),
                               [&](TensorId id) { return !leaves(id) && needs(id); });
  }

  /// Adds the tensors that remain to `out`: those of remaining operators, and the template's
  /// inputs. Returns the new id of each old tensor; -1: removed.
  [[nodiscard]] std::vector<TensorId> place_tensors(OperatorTemplateBuilder& out) const {
    std::vector<bool> touched(piece_.tensors.size(), false);
    const auto touch = [&](auto ids) {
      for (const TensorId id : ids) touched[static_cast<std::size_t>(id)] = true;
    };
    touch(std::span(piece_.inputs));
    touch(std::span(piece_.outputs));
    for (std::size_t i = 0; i < stays_.size(); ++i) {
      if (!stays_[i]) continue;
      touch(piece_.reads(piece_.operators[i]));
      touch(piece_.writes(piece_.operators[i]));
    }
    std::vector<TensorId> place(piece_.tensors.size(), -1);
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (touched[i]) place[i] = out.tensor(piece_.tensors[i]);
    }
    for (const TensorId id : piece_.inputs) {
      out.piece().inputs.push_back(place[static_cast<std::size_t>(id)]);
    }
    for (const TensorId id : piece_.restored) {
      if (needs(id)) out.piece().restored.push_back(place[static_cast<std::size_t>(id)]);
    }
    return place;
  }

  void append(OperatorTemplateBuilder& out, const std::vector<TensorId>& place) const {
    const auto placed = [&](std::span<const TensorId> ids) {
      std::vector<TensorId> result;
      for (const TensorId id : ids) result.push_back(place[static_cast<std::size_t>(id)]);
      return result;
    };
    std::vector<std::int32_t> index(stays_.size(), -1);
    for (std::size_t i = 0; i < stays_.size(); ++i) {
      if (!stays_[i]) continue;
      const Operator& op = piece_.operators[i];
      std::vector<std::int32_t> after;
      for (const std::int32_t other : piece_.after(op)) {
        after.push_back(index[static_cast<std::size_t>(other)]);
      }
      index[i] = out.add(op, placed(piece_.reads(op)), placed(piece_.writes(op)), after);
    }
  }

  const OperatorTemplate& piece_;
  bool goes_on_;
  bool reruns_;
  std::vector<bool> needed_;  ///< For each tensor: true if it is needed.
  std::vector<bool> stays_;   ///< For each operator: true if it remains.
};

}  // namespace

void remove_operators_of_unneeded_gradients(ModelBlockTemplatePair& pair, bool gradient_goes_on,
                                            bool reruns) {
  const Pruner pruner(pair.backward, gradient_goes_on, reruns);
  OperatorTemplate rest = pruner.rest();
  std::vector<TensorId> saved;
  for (std::size_t i = 0; i < pair.forward.saved.size() && !rest.operators.empty(); ++i) {
    if (pruner.needs(pair.backward.restored[i])) saved.push_back(pair.forward.saved[i]);
  }
  pair.forward.saved = std::move(saved);
  pair.backward = std::move(rest);
}

}  // namespace stepwright::step
