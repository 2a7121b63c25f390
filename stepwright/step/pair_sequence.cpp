#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/step/block_list.h"

namespace stepwright::step {
namespace {

/// True if an item computes a layer; false for gathers and reductions of its states, on any stream.
bool computes_layer(const OperatorTemplateStore& store, const TemplateSequenceItem& item) {
  if (item.layer < 0) return false;
  const auto& operators = store.templates()[static_cast<std::size_t>(item.which)].operators;
  return std::ranges::any_of(operators,
                             [](const Operator& op) { return !is_communication(op.kind); });
}

/// Merges the items of two sequences into one.
class PairSequence {
 public:
  PairSequence(OperatorTemplateStore& store, const TemplateSequence& forward,
               const TemplateSequence& backward, const OperatorSeconds& seconds)
      : store_(store), seconds_(seconds), strands_{&forward, &backward} {
    out_ = {.direction = forward.direction,
            .chunk = forward.chunk,
            .items = {},
            .beside = backward.chunk};
    for (std::size_t s = 0; s < strands_.size(); ++s) places_[s].resize(strands_[s]->items.size());
  }

  TemplateSequence write() {
    while (true) {
      const bool backward = append_until_layer(1);
      const bool forward = append_until_layer(0);
      if (!backward || !forward) break;
      append_pair();
    }
    for (const std::size_t strand : {std::size_t{1}, std::size_t{0}}) {
      while (next_[strand] < strands_[strand]->items.size()) append(strand);
    }
    return std::move(out_);
  }

 private:
  /// Index of a strand's item in the merged sequence, and the number of outputs of its template
  /// that precede the item's own.
  struct Place {
    std::int32_t item = -1;
    std::int32_t outputs = 0;
  };

  bool append_until_layer(std::size_t strand) {
    const std::vector<TemplateSequenceItem>& items = strands_[strand]->items;
    for (; next_[strand] < items.size(); append(strand)) {
      if (computes_layer(store_, items[next_[strand]])) return true;
    }
    return false;
  }

  void append(std::size_t strand) {
    const std::size_t index = next_[strand]++;
    TemplateSequenceItem item = strands_[strand]->items[index];
    item.after.clear();
    item.inputs.clear();
    item.strand = static_cast<std::uint8_t>(strand);
    take_over(item, strand, index, 0);
    out_.items.push_back(std::move(item));
  }

  void append_pair() {
    const std::array<std::size_t, 2> index{next_[0]++, next_[1]++};
    const TemplateSequenceItem& forward = strands_[0]->items[index[0]];
    const TemplateSequenceItem& backward = strands_[1]->items[index[1]];
    const auto outputs =
        std::ssize(store_.templates()[static_cast<std::size_t>(forward.which)].outputs);
    TemplateSequenceItem item{
        .which = store_.add_interleaved_template_pair(forward.which, backward.which, seconds_),
        .layer = forward.layer,
        .units = {forward.units.front(), backward.units.front()},
        .beside_layer = backward.layer};
    take_over(item, 0, index[0], 0);
    take_over(item, 1, index[1], static_cast<std::int32_t>(outputs));
    out_.items.push_back(std::move(item));
  }

  /// Rewrites an item's dependences and inputs as indices into the merged sequence.
  void take_over(TemplateSequenceItem& item, std::size_t strand, std::size_t index,
                 std::int32_t outputs) {
    const TemplateSequenceItem& old = strands_[strand]->items[index];
    for (const std::int32_t other : old.after) {
      item.after.push_back(places_[strand][static_cast<std::size_t>(other)].item);
    }
    for (const OperatorTemplateInputSource& source : old.inputs) {
      const Place& place = places_[strand][static_cast<std::size_t>(source.item)];
      item.inputs.push_back({place.item, source.output + place.outputs});
    }
    places_[strand][index] = {static_cast<std::int32_t>(out_.items.size()), outputs};
  }

  OperatorTemplateStore& store_;
  const OperatorSeconds& seconds_;
  std::array<const TemplateSequence*, 2> strands_;
  std::array<std::size_t, 2> next_{};
  std::array<std::vector<Place>, 2> places_;
  TemplateSequence out_;
};

}  // namespace

TemplateSequence merge_forward_with_backward(OperatorTemplateStore& store,
                                             const TemplateSequence& forward,
                                             const TemplateSequence& backward,
                                             const OperatorSeconds& seconds) {
  return PairSequence(store, forward, backward, seconds).write();
}

}  // namespace stepwright::step
