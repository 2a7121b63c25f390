#include "stepwright/memory/sequences.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stepwright/memory/slot_changes.h"

namespace stepwright::memory {
namespace {

void change(KindBytes& kinds, const KindBytes& by, double sign) {
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] += sign * by[i];
}

/// Buffers passed between the items of one sequence. For an item that writes or reads a buffer, the
/// item's own footprint includes it; this class counts it at all other items.
class Between {
 public:
  Between(const step::StepProgram& program, const step::TemplateSequence& sequence,
          bool late_gathers, MemoryPlace place)
      : program_(program), items_(sequence.items), place_(place), changes_(items_.size() + 1) {
    if (late_gathers) head_ = loss_or_head_item_index(program, sequence);
    for (std::int32_t taker = 0; taker < count(); ++taker) lay_inputs(taker);
    for (std::int32_t maker = 0; maker < count(); ++maker) lay_untaken(maker);
  }

  /// Returns the change in bytes when the item at `position` starts.
  [[nodiscard]] const KindBytes& change_at(std::int32_t position) const {
    return changes_[static_cast<std::size_t>(position)];
  }

 private:
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(items_.size()); }
  [[nodiscard]] const step::TemplateSequenceItem& item(std::int32_t position) const {
    return items_[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] const step::OperatorTemplate& piece(std::int32_t position) const {
    return program_.templates[static_cast<std::size_t>(item(position).which)];
  }

  void lay_inputs(std::int32_t taker) {
    for (const step::OperatorTemplateInputSource& source : item(taker).inputs) {
      if (source.item < 0) continue;
      const auto& outputs = piece(source.item).outputs;
      const step::TensorId id = outputs[static_cast<std::size_t>(source.output)];
      taken_.insert({source.item, source.output});
      lay_made(id, source.item, taker - 1, taker > head_);
      if (!reduces_gradients_from_input_copy(piece(taker)))
        lay(id, source.item, taker + 1, held_until(taker));
    }
  }

  void lay_untaken(std::int32_t maker) {
    const auto& outputs = piece(maker).outputs;
    for (std::int32_t output = 0; output < std::ssize(outputs); ++output) {
      if (taken_.contains({maker, output})) continue;
      const bool held = reduces_gradients_from_input_copy(piece(maker)) ||
                        copies_gathered_parameters(piece(maker));
      const std::int32_t end = count() - 1;
      const bool overlaps = communication_stream_of_template(piece(maker)).has_value();
      const std::int32_t beyond = overlaps && copies_gathered_parameters(piece(maker)) ? 1 : 0;
      const std::int32_t last = held ? std::min(end, held_until(maker) + beyond) : end;
      lay_made(outputs[static_cast<std::size_t>(output)], maker, last);
    }
  }

  /// Counts a tensor from the first position at which it may be allocated until `last`, except at
  /// its writer's own position.
  void lay_made(step::TensorId id, std::int32_t maker, std::int32_t last, bool late = false) {
    const std::int32_t from =
        late && communication_stream_of_template(piece(maker)) ? head_ + 1 : 0;
    lay(id, maker, behind_reductions(std::max(from, made_from(maker)), maker), maker - 1);
    lay(id, maker, std::max(from, maker + 1), last);
  }

  void lay(step::TensorId id, std::int32_t maker, std::int32_t first, std::int32_t last) {
    if (first > last) return;
    const step::TemplateTensor& tensor = piece(maker).tensors[static_cast<std::size_t>(id)];
    const double bytes = max_tensor_bytes_over_ranks(tensor, program_.imbalance, place_);
    const auto kind = static_cast<std::size_t>(tensor.kind);
    changes_[static_cast<std::size_t>(first)][kind] += bytes;
    changes_[static_cast<std::size_t>(last) + 1][kind] -= bytes;
  }

  [[nodiscard]] std::int32_t made_from(std::int32_t maker) const {
    if (!communication_stream_of_template(piece(maker)) || copies_gathered_parameters(piece(maker)))
      return maker;
    const auto& after = item(maker).after;
    return after.empty() ? 0 : *std::max_element(after.begin(), after.end()) + 1;
  }

  /// Returns the first position from `first` on, and before `last`, at which no item sends a copy
  /// of gradients.
  [[nodiscard]] std::int32_t behind_reductions(std::int32_t first, std::int32_t last) const {
    while (first < last && reduces_gradients_from_input_copy(piece(first))) ++first;
    return first;
  }

  [[nodiscard]] std::int32_t held_until(std::int32_t taker) const {
    const auto stream = communication_stream_of_template(piece(taker));
    if (!stream) return taker;
    std::int32_t last = taker;
    while (last + 1 < count() && communication_stream_of_template(piece(last + 1)) != stream)
      ++last;
    return last;
  }

  const step::StepProgram& program_;
  const std::vector<step::TemplateSequenceItem>& items_;
  MemoryPlace place_;
  std::vector<KindBytes> changes_;  ///< Change in bytes at each position, and one at the end.
  /// Outputs that an item reads: the writing item and the index of its output.
  std::set<std::pair<std::int32_t, std::int32_t>> taken_;
  std::int32_t head_ = -1;
};

}  // namespace

TemplateSequenceMemory template_sequence_footprint(
    const step::StepProgram& program, const step::TemplateSequence& sequence,
    std::span<const OperatorTemplateMemory> footprints,
    const TemplateSequenceGradientAllocation& fresh, MemoryPlace place) {
  const Between between(program, sequence, fresh.late_gathers, place);
  std::optional<AllocatedGradientShare> gradients;
  if (fresh.bytes > 0) gradients.emplace(program, sequence);
  std::optional<GatheredParameterShare> parameters;
  if (fresh.step_parameters > 0) parameters.emplace(program, sequence);
  TemplateSequenceMemory result;
  KindBytes alive{};
  double most = 0;
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    const step::TemplateSequenceItem& item = sequence.items[i];
    const OperatorTemplateMemory& own = footprints[static_cast<std::size_t>(item.which)];
    change(alive, between.change_at(static_cast<std::int32_t>(i)), 1.0);
    change(alive, own.restored, -1.0);
    KindBytes moment = alive;
    change(moment, own.at_peak, 1.0);
    const double made =
        gradients ? fresh.bytes * gradients->memory_share_at_sequence_item_peak(item) : 0;
    const double gathered =
        parameters ? fresh.step_parameters * parameters->memory_share_at_sequence_item_peak(item)
                   : 0;
    if (const double bytes = total_bytes(moment); bytes + made + gathered > most) {
      most = bytes + made + gathered;
      result.peak_bytes = bytes;
      result.fresh_bytes = made;
      result.step_parameter_bytes = gathered;
      result.at_peak = moment;
    }
    if (gradients) gradients->finish(item);
    if (parameters) parameters->finish(item);
    change(alive, own.retained, 1.0);
    change(result.left, own.retained, 1.0);
    change(result.left, own.restored, -1.0);
  }
  return result;
}

std::vector<OperatorTemplateMemory> template_memory_footprints(const step::StepProgram& program,
                                                               MemoryPlace place) {
  std::vector<OperatorTemplateMemory> result;
  result.reserve(program.templates.size());
  for (const step::OperatorTemplate& piece : program.templates) {
    result.push_back(template_memory_footprint(piece, program.imbalance, place));
  }
  return result;
}

}  // namespace stepwright::memory
