#include "stepwright/step/template_builder.h"

#include <algorithm>
#include <utility>

namespace stepwright::step {

TemplateBuilder::TemplateBuilder(std::string name, std::vector<LocalParameter> parameters,
                                 double busiest)
    : busiest_(busiest) {
  piece_.name = std::move(name);
  piece_.parameters = std::move(parameters);
  piece_.operators.reserve(48);
  piece_.tensors.reserve(64);
  piece_.operands.reserve(160);
  piece_.edges.reserve(96);
  writer_.reserve(64);
}

TensorId TemplateBuilder::tensor(const Tensor& tensor) {
  piece_.tensors.push_back(tensor);
  writer_.push_back(-1);
  return static_cast<TensorId>(piece_.tensors.size() - 1);
}

TensorId TemplateBuilder::input(const Tensor& described) {
  const TensorId id = tensor(described);
  piece_.inputs.push_back(id);
  return id;
}

void TemplateBuilder::add_edge(Operator& op, std::int32_t index) {
  if (index < 0) return;
  const auto begin = piece_.edges.begin() + op.after.first;
  if (std::find(begin, piece_.edges.end(), index) != piece_.edges.end()) return;
  piece_.edges.push_back(index);
  ++op.after.count;
}

std::int32_t TemplateBuilder::add(Operator op, std::span<const TensorId> reads,
                                  std::span<const TensorId> writes,
                                  std::span<const std::int32_t> after) {
  const auto index = static_cast<std::int32_t>(piece_.operators.size());
  if (op.part != LayerPart::kNone && op.name.empty()) op.name = name_of(op.part);
  if (op.routed) op.busiest = std::max(op.busiest, busiest_);
  op.after = {static_cast<std::int32_t>(piece_.edges.size()), 0};
  op.reads = {static_cast<std::int32_t>(piece_.operands.size()), 0};
  for (const TensorId id : reads) {
    if (id < 0) continue;
    piece_.operands.push_back(id);
    ++op.reads.count;
    add_edge(op, writer_[static_cast<std::size_t>(id)]);
  }
  for (const std::int32_t other : after) add_edge(op, other);
  op.writes = {static_cast<std::int32_t>(piece_.operands.size()), 0};
  for (const TensorId id : writes) {
    if (id < 0) continue;
    piece_.operands.push_back(id);
    ++op.writes.count;
    writer_[static_cast<std::size_t>(id)] = index;
  }
  piece_.operators.push_back(op);
  return index;
}

ParameterId TemplateBuilder::parameter(LayerPart part) const { return parameter(name_of(part)); }

ParameterId TemplateBuilder::parameter(std::string_view name) const {
  for (std::size_t i = 0; i < piece_.parameters.size(); ++i) {
    if (piece_.parameters[i].name == name) return static_cast<ParameterId>(i);
  }
  return -1;
}

void TemplateBuilder::save(const Kept& kept) {
  for (const TensorId id : kept.all()) {
    if (id < 0) continue;
    if (std::find(piece_.saved.begin(), piece_.saved.end(), id) == piece_.saved.end()) {
      piece_.saved.push_back(id);
    }
  }
}

std::vector<Kept> TemplateBuilder::restore(const TemplateBuilder& forward,
                                           std::span<const Kept> kept) {
  std::vector<TensorId> copy(forward.piece_.tensors.size(), -1);
  for (const TensorId id : forward.piece_.saved) {
    copy[static_cast<std::size_t>(id)] = tensor(forward.at(id));
    piece_.restored.push_back(copy[static_cast<std::size_t>(id)]);
  }
  std::vector<Kept> here(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t role = 0; role < static_cast<std::size_t>(Keep::kCount); ++role) {
      const TensorId id = kept[i].get(static_cast<Keep>(role));
      if (id >= 0) here[i].set(static_cast<Keep>(role), copy[static_cast<std::size_t>(id)]);
    }
  }
  return here;
}

Kept TemplateBuilder::restore(const TemplateBuilder& forward, const Kept& kept) {
  return restore(forward, std::span(&kept, 1)).front();
}

}  // namespace stepwright::step
