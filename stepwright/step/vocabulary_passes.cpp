#include "stepwright/step/vocabulary_passes.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stepwright::step {
namespace {

/// Splits a block's forward and backward templates, with their tensors numbered together, into
/// passes.
class Cutter {
 public:
  explicit Cutter(const ModelBlockTemplatePair& pair) : pair_(pair) {
    for (const bool backward : {false, true}) place_tensors(backward);
    for (const bool backward : {false, true}) note_uses(backward);
  }

  std::vector<VocabularyPass> run() {
    std::vector<VocabularyPass> passes;
    for (std::size_t i = 0; i < count(); ++i) passes.push_back({begin_of(i).pass, cut(i)});
    return passes;
  }

 private:
  [[nodiscard]] const OperatorTemplate& piece(bool backward) const {
    return backward ? pair_.backward : pair_.forward;
  }
  [[nodiscard]] const std::vector<VocabularyPassBegin>& begins(bool backward) const {
    return backward ? pair_.backward_passes : pair_.forward_passes;
  }
  [[nodiscard]] std::size_t count() const { return begins(false).size() + begins(true).size(); }
  [[nodiscard]] bool is_backward(std::size_t pass) const { return pass >= begins(false).size(); }
  [[nodiscard]] std::size_t own_index(std::size_t pass) const {
    return is_backward(pass) ? pass - begins(false).size() : pass;
  }
  [[nodiscard]] const VocabularyPassBegin& begin_of(std::size_t pass) const {
    return begins(is_backward(pass))[own_index(pass)];
  }
  [[nodiscard]] std::span<const Operator> operators_of(std::size_t pass) const {
    const std::vector<VocabularyPassBegin>& own = begins(is_backward(pass));
    const std::vector<Operator>& all = piece(is_backward(pass)).operators;
    const std::size_t at = own_index(pass);
    const auto first = static_cast<std::size_t>(own[at].first);
    const std::size_t last =
        at + 1 < own.size() ? static_cast<std::size_t>(own[at + 1].first) : all.size();
    return std::span(all).subspan(first, last - first);
  }

  /// Numbers the tensors of a template; a tensor that the forward saves and the backward restores
  /// has one number.
  void place_tensors(bool backward) {
    const OperatorTemplate& own = piece(backward);
    std::vector<std::size_t>& places = places_[backward ? 1 : 0];
    for (std::size_t id = 0; id < own.tensors.size(); ++id) {
      const auto restored = std::ranges::find(own.restored, static_cast<TensorId>(id));
      if (restored != own.restored.end()) {
        places.push_back(place(
            false, pair_.forward.saved[static_cast<std::size_t>(restored - own.restored.begin())]));
        continue;
      }
      places.push_back(tensors_.size());
      tensors_.push_back({.tensor = own.tensors[id]});
    }
  }
  [[nodiscard]] std::size_t place(bool backward, TensorId id) const {
    return places_[backward ? 1 : 0][static_cast<std::size_t>(id)];
  }

  void note_uses(bool backward) {
    const OperatorTemplate& own = piece(backward);
    for (std::size_t pass = 0; pass < count(); ++pass) {
      if (is_backward(pass) != backward) continue;
      for (const Operator& op : operators_of(pass)) {
        const bool message = op.stream == DeviceStream::kVocabulary && pass + 1 < count();
        for (const TensorId id : own.reads(op)) use(place(backward, id), pass);
        for (const TensorId id : own.writes(op)) {
          use(place(backward, id), pass);
          if (message) use(place(backward, id), pass + 1);
        }
      }
    }
    const std::size_t first = backward ? begins(false).size() : 0;
    for (const TensorId id : own.inputs) {
      tensors_[place(backward, id)].input = true;
      use(place(backward, id), first);
    }
    for (const TensorId id : own.outputs) tensors_[place(backward, id)].output = true;
  }
  void use(std::size_t tensor, std::size_t pass) {
    Use& of = tensors_[tensor];
    if (!of.used) of.first = pass;
    of.used = true;
    of.last = std::max(of.last, pass);
  }

  OperatorTemplate cut(std::size_t pass) const {
    const OperatorTemplate& own = piece(is_backward(pass));
    OperatorTemplateBuilder out(
        std::string(name_of(schedule::kDirectionNames, begin_of(pass).pass)), own.parameters);
    std::vector<TensorId> here(tensors_.size(), -1);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Use& of = tensors_[i];
      if (!of.used || of.first > pass || of.last < pass) continue;
      here[i] = out.tensor(of.tensor);
      if (of.first == pass && of.input) out.piece().inputs.push_back(here[i]);
      if (of.first < pass) out.piece().restored.push_back(here[i]);
      if (of.last > pass) out.piece().saved.push_back(here[i]);
      if (of.last == pass && of.output) out.output(here[i]);
    }
    const auto placed = [&](std::span<const TensorId> ids) {
      std::vector<TensorId> result;
      for (const TensorId id : ids) result.push_back(here[place(is_backward(pass), id)]);
      return result;
    };
    for (const Operator& op : operators_of(pass)) {
      out.add(op, placed(own.reads(op)), placed(own.writes(op)));
    }
    return std::move(out.piece());
  }

  /// A tensor, and the passes that touch it.
  struct Use {
    TemplateTensor tensor;
    bool input = false;
    bool output = false;
    bool used = false;
    std::size_t first = 0;
    std::size_t last = 0;
  };

  const ModelBlockTemplatePair& pair_;
  std::vector<Use> tensors_;
  /// For each template (forward, backward): the number of each tensor.
  std::vector<std::size_t> places_[2];
};

}  // namespace

std::vector<VocabularyPass> split_vocabulary_passes(const ModelBlockTemplatePair& pair) {
  return Cutter(pair).run();
}

bool template_uses_parameters(const OperatorTemplate& piece) {
  return std::ranges::any_of(piece.operators, [](const Operator& op) { return op.parameter >= 0; });
}

bool template_computes_gradients(const OperatorTemplate& piece) {
  return std::ranges::any_of(piece.operators, [](const Operator& op) {
    return op.parameter >= 0 && is_backward_phase(op.phase);
  });
}

}  // namespace stepwright::step
