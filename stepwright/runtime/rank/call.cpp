#include "stepwright/runtime/rank/call.h"

#include <algorithm>

#include "stepwright/model/parameters.h"

namespace stepwright::runtime {
namespace {

/// Returns the number of rows that the program states for a result.
std::int64_t rows_of_result(const KernelCall& call, std::size_t place) {
  for (const step::TensorId id : call.piece.writes(call.op)) {
    const step::TemplateTensor& tensor = call.piece.tensors[static_cast<std::size_t>(id)];
    if (tensor.kind != step::TensorPurpose::kGathered && place-- == 0) return tensor.extents[0];
  }
  return 0;
}

}  // namespace

at::Tensor KernelCall::rows_used_by_operator(const at::Tensor& all) const {
  const step::IndexRange& rows = op.rows;
  const bool more = rows.count > 0 && all.dim() > 0 && all.size(0) > rows.count;
  return more ? all.narrow(0, rows.first, rows.count) : all;
}

void KernelCall::write_result(std::size_t i, at::Tensor value) {
  TensorWithReadyMoment& cell = *writes.at(i);
  const std::int64_t rows = rows_of_result(*this, i);
  if (op.rows.count == 0 || rows <= op.rows.count) {
    cell.value = std::move(value);
    return;
  }
  if (!cell.value.defined()) cell.value = at::empty({rows, value.size(1)}, value.options());
  rows_used_by_operator(cell.value).copy_(value);
}

at::Tensor KernelCall::operator_weight(std::string_view name) const {
  StoredParameter* parameter = rank.store.parameters_of_block(unit).find(name);
  if (parameter == nullptr) return {};
  if (parameter->gather_offset >= 0) {
    return parameter->reshaped_to_parameter(
        gathered_reads.front()->value.narrow(0, parameter->gather_offset, parameter->padded));
  }
  return parameter->reshaped_to_parameter(parameter->value_owning_parameter().value);
}

model::LayerClass KernelCall::layer_class() const {
  const model::ModelArchitecture& model = *rank.setting.model;
  return unit >= 0 ? model.layer_class(unit) : model.default_layer_class();
}

std::int64_t KernelCall::multi_token_depth() const {
  return std::max<std::int64_t>(0, unit - rank.setting.model->layers + 1);
}

const step::RankLocalParameter& KernelCall::operator_parameter() const {
  return piece.parameters.at(static_cast<std::size_t>(op.parameter));
}

at::Tensor KernelCall::operator_weight() const {
  return operator_weight(operator_parameter().name);
}
at::Tensor KernelCall::bias() const {
  return operator_weight(model::bias_name(operator_parameter().name));
}
at::Tensor KernelCall::gradient() const { return gradient(operator_parameter().name); }
at::Tensor KernelCall::bias_gradient() const {
  return gradient(model::bias_name(operator_parameter().name));
}

at::Tensor KernelCall::gradient(std::string_view name) const {
  ModelBlockParameters& block = rank.store.parameters_of_block(unit);
  StoredParameter* parameter = block.find(name);
  if (parameter == nullptr || parameter->frozen) return {};
  if (parameter->reduce_offset < 0) {
    return parameter->reshaped_to_parameter(parameter->value_owning_parameter().gradient);
  }
  at::Tensor& leaving = gathered_writes.front()->value;
  if (!leaving.defined()) {
    leaving = at::zeros({block.leaving_elements}, rank.tensor_options_of(rank.setting.gradient));
  }
  return parameter->reshaped_to_parameter(
      leaving.narrow(0, parameter->reduce_offset, parameter->padded));
}

namespace {

/// Returns this rank's rows of the residual stream, out of the rows of all tokens.
at::Tensor rows_here(const at::Tensor& all, std::int64_t rows, const plan::RankCoordinates& place) {
  return rows == all.numel() ? all : all.narrow(0, place.tensor * rows, rows);
}

}  // namespace

at::Tensor KernelCall::token_positions_in_sequences(std::int64_t rows) const {
  return rows_here(batch->positions, rows, rank.place);
}

at::Tensor KernelCall::token_indices_in_global_batch(std::int64_t rows) const {
  return rows_here(batch->places, rows, rank.place);
}

void accumulate_gradient(const at::Tensor& into, const at::Tensor& value) {
  into.add_(value.view(into.sizes()));
}

}  // namespace stepwright::runtime
