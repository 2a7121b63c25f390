#include "stepwright/step/template_builder.h"

#include <algorithm>
#include <utility>

namespace stepwright::step {

OperatorTemplateBuilder::OperatorTemplateBuilder(std::string name,
                                                 std::vector<RankLocalParameter> parameters,
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

TensorId OperatorTemplateBuilder::tensor(const TemplateTensor& tensor) {
  piece_.tensors.push_back(tensor);
  writer_.push_back(-1);
  return static_cast<TensorId>(piece_.tensors.size() - 1);
}

TensorId OperatorTemplateBuilder::add_input_tensor(const TemplateTensor& described) {
  const TensorId id = tensor(described);
  piece_.inputs.push_back(id);
  return id;
}

void OperatorTemplateBuilder::add_edge(Operator& op, std::int32_t index) {
  if (index < 0) return;
  const auto begin = piece_.edges.begin() + op.after.first;
  if (std::find(begin, piece_.edges.end(), index) != piece_.edges.end()) return;
  piece_.edges.push_back(index);
  ++op.after.count;
}

std::int32_t OperatorTemplateBuilder::add(Operator op, std::span<const TensorId> reads,
                                          std::span<const TensorId> writes,
                                          std::span<const std::int32_t> after) {
  const auto index = static_cast<std::int32_t>(piece_.operators.size());
  if (op.part != LayerPart::kNone && op.name.empty()) op.name = layer_part_name(op.part);
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

ParameterId OperatorTemplateBuilder::parameter_of_layer_part(LayerPart part) const {
  return parameter_of_layer_part(layer_part_name(part));
}

ParameterId OperatorTemplateBuilder::parameter_of_layer_part(std::string_view name) const {
  for (std::size_t i = 0; i < piece_.parameters.size(); ++i) {
    if (piece_.parameters[i].name == name) return static_cast<ParameterId>(i);
  }
  return -1;
}

void OperatorTemplateBuilder::mark_tensors_kept_for_backward(const KeptTensors& kept) {
  for (const TensorId id : kept.all()) {
    if (id < 0) continue;
    if (std::find(piece_.saved.begin(), piece_.saved.end(), id) == piece_.saved.end()) {
      piece_.saved.push_back(id);
    }
  }
}

std::vector<KeptTensors> OperatorTemplateBuilder::create_kept_tensors_in_backward(
    const OperatorTemplateBuilder& forward, std::span<const KeptTensors> kept) {
  std::vector<TensorId> copy(forward.piece_.tensors.size(), -1);
  for (const TensorId id : forward.piece_.saved) {
    copy[static_cast<std::size_t>(id)] = tensor(forward.at(id));
    piece_.restored.push_back(copy[static_cast<std::size_t>(id)]);
  }
  std::vector<KeptTensors> here(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t role = 0; role < static_cast<std::size_t>(KeptTensorRole::kCount); ++role) {
      const TensorId id = kept[i].get(static_cast<KeptTensorRole>(role));
      if (id >= 0)
        here[i].set(static_cast<KeptTensorRole>(role), copy[static_cast<std::size_t>(id)]);
    }
  }
  return here;
}

KeptTensors OperatorTemplateBuilder::create_kept_tensors_in_backward(
    const OperatorTemplateBuilder& forward, const KeptTensors& kept) {
  return create_kept_tensors_in_backward(forward, std::span(&kept, 1)).front();
}

}  // namespace stepwright::step
