#include "stepwright/step/adapter.h"

#include <algorithm>
#include <iterator>

namespace stepwright::step {
namespace {

/// Roles of the tensors that a layer part keeps for its adapter's backward.
struct AdapterRoles {
  LayerPart part{};
  KeptTensorRole narrow{};
  KeptTensorRole input{};
  KeptTensorRole mask{};
};
constexpr AdapterRoles kAdapterRoles[] = {
    {LayerPart::kQkv, KeptTensorRole::kQkvNarrow, KeptTensorRole::kQkvAdapterInput,
     KeptTensorRole::kQkvAdapterMask},
    {LayerPart::kQuery, KeptTensorRole::kQkvNarrow, KeptTensorRole::kQkvAdapterInput,
     KeptTensorRole::kQkvAdapterMask},
    {LayerPart::kQueryDown, KeptTensorRole::kQueryDownNarrow,
     KeptTensorRole::kQueryDownAdapterInput, KeptTensorRole::kQueryDownAdapterMask},
    {LayerPart::kQueryUp, KeptTensorRole::kQueryUpNarrow, KeptTensorRole::kQueryUpAdapterInput,
     KeptTensorRole::kQueryUpAdapterMask},
    {LayerPart::kKeyValueDown, KeptTensorRole::kKeyValueDownNarrow,
     KeptTensorRole::kKeyValueDownAdapterInput, KeptTensorRole::kKeyValueDownAdapterMask},
    {LayerPart::kKeyValueUp, KeptTensorRole::kKeyValueUpNarrow,
     KeptTensorRole::kKeyValueUpAdapterInput, KeptTensorRole::kKeyValueUpAdapterMask},
    {LayerPart::kAttentionOutput, KeptTensorRole::kProjectionNarrow,
     KeptTensorRole::kProjectionAdapterInput, KeptTensorRole::kProjectionAdapterMask},
    {LayerPart::kFc1, KeptTensorRole::kFc1Narrow, KeptTensorRole::kFc1AdapterInput,
     KeptTensorRole::kFc1AdapterMask},
    {LayerPart::kFc2, KeptTensorRole::kFc2Narrow, KeptTensorRole::kFc2AdapterInput,
     KeptTensorRole::kFc2AdapterMask},
    {LayerPart::kExpertFc1, KeptTensorRole::kExpertFc1Narrow,
     KeptTensorRole::kExpertFc1AdapterInput, KeptTensorRole::kExpertFc1AdapterMask},
    {LayerPart::kExpertFc2, KeptTensorRole::kExpertFc2Narrow,
     KeptTensorRole::kExpertFc2AdapterInput, KeptTensorRole::kExpertFc2AdapterMask},
    {LayerPart::kSharedFc1, KeptTensorRole::kSharedFc1Narrow,
     KeptTensorRole::kSharedFc1AdapterInput, KeptTensorRole::kSharedFc1AdapterMask},
    {LayerPart::kSharedFc2, KeptTensorRole::kSharedFc2Narrow,
     KeptTensorRole::kSharedFc2AdapterInput, KeptTensorRole::kSharedFc2AdapterMask}};

/// Sizes of the adapter of a layer part on this rank.
struct Adapter {
  AdapterRoles roles;
  MatrixProduct down, up;
  ParameterId down_parameter = -1;
  ParameterId up_parameter = -1;
};

std::optional<Adapter> adapter_of(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  if (!e.s.model->adapters) return std::nullopt;
  const model::LoraAdaptableWeight* names = model::find_adaptable_weight(layer_part_name(p.part));
  if (names == nullptr) return std::nullopt;
  Adapter adapter{.roles = *std::ranges::find(kAdapterRoles, p.part, &AdapterRoles::part),
                  .down = p,
                  .up = p,
                  .down_parameter = e.out.parameter_of_layer_part(names->down),
                  .up_parameter = e.out.parameter_of_layer_part(names->up)};
  if (adapter.down_parameter < 0) return std::nullopt;
  const auto& parameters = e.out.piece().parameters;
  const RankLocalParameter& down = parameters[static_cast<std::size_t>(adapter.down_parameter)];
  const RankLocalParameter& up = parameters[static_cast<std::size_t>(adapter.up_parameter)];
  adapter.down.columns = down.rows;
  adapter.up.columns = up.rows;
  adapter.up.inner = up.columns;
  return adapter;
}

/// Returns one product of an adapter: with A (`down`) or with B. Adapters are multiplied in the
/// type in which they are stored, never in a narrower one.
Operator adapter_product(const ModelBlockBuildContext& e, Phase phase, const Adapter& adapter,
                         bool down) {
  Operator op = matrix_product_operator(e, phase, down ? adapter.down : adapter.up);
  op.dtype = e.s.storage;
  op.purpose = down ? OperatorPurpose::kAdapterDown : OperatorPurpose::kAdapterUp;
  op.parameter = down ? adapter.down_parameter : adapter.up_parameter;
  op.name = e.out.piece().parameters[static_cast<std::size_t>(op.parameter)].name;
  return op;
}

Operator element_wise(const ModelBlockBuildContext& e, Phase phase, const MatrixProduct& p,
                      std::int64_t columns, OperatorPurpose purpose) {
  Operator op =
      computation(e, OperatorKind::kAdd, phase, p.part, {.rows = p.rows, .columns = columns});
  op.routed = p.groups > 0;
  op.purpose = purpose;
  return op;
}

Operator dropping(const ModelBlockBuildContext& e, Phase phase, const MatrixProduct& p) {
  Operator op =
      computation(e, OperatorKind::kDropout, phase, p.part, {.rows = p.rows, .columns = p.inner});
  op.routed = p.groups > 0;
  op.purpose = OperatorPurpose::kAdapterDown;
  return op;
}

/// Returns the input of A: `x` after the adapter's dropout, if it has one.
TensorId dropped(ModelBlockBuildContext& e, TensorId x, const Adapter& adapter,
                 const MatrixProduct& p) {
  if (e.s.model->adapters->dropout == 0) return x;
  const TensorId rest = create_matrix_product_result(e, "dropped", p, p.inner);
  const TensorId mask = e.out.tensor({.name = "mask",
                                      .dtype = DType::kInt8,
                                      .routed = p.groups > 0,
                                      .extents = {p.rows, p.inner, 1}});
  e.out.add(dropping(e, e.forward, p), {x}, {rest, mask});
  e.kept.set(adapter.roles.input, rest);
  e.kept.set(adapter.roles.mask, mask);
  return rest;
}

/// True if A multiplies a cast of its input, and keeps that cast for the backward: under autocast,
/// adapters of a model in a narrow type are in fp32 (huggingface/peft 0.21.2
/// src/peft/tuners/lora/layer.py, Linear.forward: _cast_input_dtype; pytorch/pytorch 2.13
/// aten/src/ATen/autocast_mode.cpp, cached_cast).
bool casts_input(const ModelBlockBuildContext& e) {
  return e.s.casts_for_step && e.s.model->adapters->dropout == 0;
}

/// Number of adapted linear layers that a product stands for, each with an A of its own.
std::int64_t layers_of(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  using model::LoraTargetProduct;
  const model::LoraAdapters& adapters = *e.s.model->adapters;
  if (adapters.joined) return 1;
  if (p.part == LayerPart::kQkv) {
    return adapters.has(LoraTargetProduct::kQuery) + adapters.has(LoraTargetProduct::kKey) +
           adapters.has(LoraTargetProduct::kValue);
  }
  if (p.part != LayerPart::kFc1) return 1;
  return adapters.has(LoraTargetProduct::kGate) + adapters.has(LoraTargetProduct::kUp);
}

/// Casts of A's input that stay in memory until the backward; -1: none.
TensorId input_casts(ModelBlockBuildContext& e, const Adapter& adapter, const MatrixProduct& p) {
  if (!casts_input(e)) return -1;
  const TensorId casts = e.out.tensor({.name = "casts",
                                       .dtype = e.s.storage,
                                       .routed = p.groups > 0,
                                       .extents = {p.rows, p.inner, layers_of(e, p)}});
  e.kept.set(adapter.roles.input, casts);
  return casts;
}

}  // namespace

bool matrix_product_has_lora_adapter(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return adapter_of(e, p).has_value();
}

bool backward_needs_input(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  const ParameterId weight = e.out.parameter_of_layer_part(p.part);
  if (weight < 0 || is_block_parameter_trained(e, weight)) return true;
  return matrix_product_has_lora_adapter(e, p) && e.s.model->adapters->dropout == 0 &&
         !casts_input(e);
}

void append_lora_adapter(ModelBlockBuildContext& e, TensorId x, TensorId y,
                         const MatrixProduct& p) {
  const std::optional<Adapter> adapter = adapter_of(e, p);
  if (!adapter) return;
  const TensorId input = dropped(e, x, *adapter, p);
  const TensorId narrow = create_matrix_product_result(e, "narrow", p, adapter->down.columns);
  e.out.add(adapter_product(e, e.forward, *adapter, true), {input, p.counts, e.parameters},
            {narrow, input_casts(e, *adapter, p)});
  e.kept.set(adapter->roles.narrow, narrow);
  const TensorId wide = create_matrix_product_result(e, "adapter", p, adapter->up.columns);
  e.out.add(adapter_product(e, e.forward, *adapter, false), {narrow, p.counts, e.parameters},
            {wide});
  const std::int64_t columns = adapter->up.columns;
  e.out.add(element_wise(e, e.forward, p, columns, OperatorPurpose::kAdapterScale), {wide}, {wide});
  e.out.add(element_wise(e, e.forward, p, columns, OperatorPurpose::kAdapterAdd), {y, wide}, {y});
}

LoraGradientTensors adapter_data_gradient(ModelBlockBuildContext& e, TensorId dy,
                                          const MatrixProduct& p) {
  const std::optional<Adapter> adapter = adapter_of(e, p);
  if (!adapter) return {};
  const Phase phase = Phase::kDataGradient;
  const LoraGradientTensors d{
      .wide = create_matrix_product_result(e, "gradient", p, adapter->up.columns),
      .narrow = create_matrix_product_result(e, "gradient", p, adapter->down.columns),
      .input = create_matrix_product_result(e, "gradient", p, p.inner)};
  e.out.add(element_wise(e, phase, p, adapter->up.columns, OperatorPurpose::kAdapterScale), {dy},
            {d.wide});
  e.out.add(adapter_product(e, phase, *adapter, false), {d.wide, p.counts, e.parameters},
            {d.narrow});
  e.out.add(adapter_product(e, phase, *adapter, true), {d.narrow, p.counts, e.parameters},
            {d.input});
  if (e.s.model->adapters->dropout > 0) {
    e.out.add(dropping(e, phase, p), {d.input, tensor_kept_by_forward(e, adapter->roles.mask)},
              {d.input});
  }
  return d;
}

void append_lora_weight_gradients(ModelBlockBuildContext& e, const LoraGradientTensors& gradients,
                                  TensorId x, const MatrixProduct& p) {
  const std::optional<Adapter> adapter = adapter_of(e, p);
  if (!adapter) return;
  const bool apart = e.s.model->adapters->dropout > 0 || casts_input(e);
  const TensorId input = apart ? tensor_kept_by_forward(e, adapter->roles.input) : x;
  const Phase phase = Phase::kWeightGradient;
  append_weight_gradient_operator(e, adapter_product(e, phase, *adapter, false), gradients.wide,
                                  tensor_kept_by_forward(e, adapter->roles.narrow), p.counts);
  append_weight_gradient_operator(e, adapter_product(e, phase, *adapter, true), gradients.narrow,
                                  input, p.counts);
}

TensorId add_lora_input_gradient(ModelBlockBuildContext& e, TensorId dx, TensorId adapter,
                                 const MatrixProduct& p) {
  if (adapter < 0) return dx;
  e.out.add(element_wise(e, Phase::kDataGradient, p, p.inner, OperatorPurpose::kAdapterAdd),
            {dx, adapter}, {dx});
  return dx;
}

TensorId append_matrix_product_with_lora(ModelBlockBuildContext& e, TensorId x,
                                         const MatrixProduct& p, KeptTensorRole input) {
  const TensorId y = append_matrix_product_keeping_input(e, x, p, input, x);
  append_lora_adapter(e, x, y, p);
  return y;
}

}  // namespace stepwright::step
