#include "stepwright/step/block_build_context.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "stepwright/step/adapter.h"

namespace stepwright::step {
namespace {

/// Type in which rows are gathered for a narrow product. Rows are cast before an overlapped gather
/// (Transformer Engine's user buffers) and after a plain one; with one scale per tensor they are
/// always cast before, with scales per row always after (torchao
/// torchao/float8/float8_tensor_parallel.py, for scales per tensor only).
DType gathered_type(const StepBuildSettings& s) {
  switch (s.kernels.casts) {
    case plan::LowPrecisionCastScaling::kTensorwise: return s.matrix;
    case plan::LowPrecisionCastScaling::kRowwise: return s.storage;
    case plan::LowPrecisionCastScaling::kLibrary: break;
  }
  return s.overlap.tensor ? s.matrix : s.storage;
}

/// True for a message in the backward of a product split by columns that can overlap the product's
/// weight gradient or data gradient, which does not read its result.
bool beside_gradient(const StepBuildSettings& s, const TensorParallelRegionCrossing& c) {
  return c.of_columns && s.overlap.tensor_gradients;
}

Operator tensor_message(const ModelBlockBuildContext& e, OperatorKind kind,
                        const TensorParallelRegionCrossing& c) {
  const bool beside = beside_gradient(e.s, c);
  return {.kind = kind,
          .phase = c.phase,
          .stream =
              beside ? DeviceStream::kTensor : stream_of_messages(e.s, ParallelismScheme::kTensor),
          .scheme = ParallelismScheme::kTensor,
          .group = plan::CommunicatorKind::kTensor,
          .dtype = kind == OperatorKind::kAllGather ? gathered_type(e.s) : e.s.storage,
          .in_pieces = e.s.overlap.tensor && !beside,
          .payload_elements = e.s.tokens * c.columns,
          .part = c.part};
}

/// Copies the whole buffer of a message: PyTorch gathers and reduces along the first dimension, but
/// positions are the second one (torch/distributed/_functional_collectives.py, all_gather_tensor
/// and reduce_scatter_tensor: cat of chunks, or a view where the first dimension is 1).
void copy_layout(ModelBlockBuildContext& e, TensorId buffer,
                 const TensorParallelRegionCrossing& c) {
  if (!e.s.copies_layouts) return;
  e.out.add({.kind = OperatorKind::kUnpack,
             .phase = c.phase,
             .dtype = e.s.storage,
             .shape = {.rows = e.s.tokens, .columns = c.columns},
             .part = c.part},
            {buffer}, {buffer});
}

/// Layer part of a dropout, found by the role of its mask.
LayerPart dropout_part(KeptTensorRole mask) {
  switch (mask) {
    case KeptTensorRole::kAttentionMask: return LayerPart::kAttentionDropout;
    case KeptTensorRole::kMlpMask: return LayerPart::kMlpDropout;
    default: return LayerPart::kEmbeddingDropout;
  }
}

}  // namespace

DeviceStream stream_of_messages(const StepBuildSettings& s, ParallelismScheme scheme) {
  switch (scheme) {
    case ParallelismScheme::kTensor:
      return s.overlap.tensor ? DeviceStream::kTensor : DeviceStream::kCompute;
    case ParallelismScheme::kContext:
      return s.overlap.context ? DeviceStream::kContext : DeviceStream::kCompute;
    case ParallelismScheme::kExpert: {
      const bool beside = s.overlap.expert || s.overlap.shared_experts;
      return beside ? DeviceStream::kExpert : DeviceStream::kCompute;
    }
    case ParallelismScheme::kPipeline:
      return s.barriers > 0 ? DeviceStream::kVocabulary : DeviceStream::kCompute;
    default: return DeviceStream::kCompute;
  }
}

void record_module_end_tensor(ModelBlockBuildContext& e, plan::RecomputeModule module,
                              TensorId result) {
  if (e.ends == nullptr) return;
  e.ends->at(static_cast<std::size_t>(module)) = {
      result, static_cast<std::int32_t>(e.out.piece().operators.size())};
}

TensorId tensor_kept_by_forward(ModelBlockBuildContext& e, KeptTensorRole role) {
  if (!e.kept.has(role) && e.rematerialisation != nullptr)
    e.rematerialisation->recompute_tensor_of_role(e.out, e.kept, role);
  return e.kept.get(role);
}

Operator computation(const ModelBlockBuildContext& e, OperatorKind kind, Phase phase,
                     LayerPart part, const OperatorShape& shape) {
  return {.kind = kind, .phase = phase, .dtype = e.s.storage, .shape = shape, .part = part};
}

TensorId create_activation_tensor(ModelBlockBuildContext& e, std::string_view name, DType type,
                                  std::int64_t rows, std::int64_t columns) {
  return e.out.tensor({.name = name, .dtype = type, .extents = {rows, columns, 1}});
}

TensorId create_activation_tensor(ModelBlockBuildContext& e, std::string_view name,
                                  std::int64_t rows, std::int64_t columns) {
  return create_activation_tensor(e, name, e.s.storage, rows, columns);
}

TensorId create_message_buffer(ModelBlockBuildContext& e, std::string_view name, std::int64_t rows,
                               std::int64_t columns) {
  return e.out.tensor({.name = name,
                       .kind = TensorPurpose::kCommunication,
                       .dtype = e.s.storage,
                       .extents = {rows, columns, 1}});
}

namespace {

/// Most elements of a parameter that DeepSpeed's ZeRO-3 keeps whole on each rank by default
/// (deepspeed/runtime/zero/config.py, stage3_param_persistence_threshold).
constexpr std::int64_t kMaxPersistentElements = 100'000;

/// Returns the number of modules whose sharded parameters a framework fetches for a product.
std::uint8_t module_fetches(const StepBuildSettings& s, Phase phase, const MatrixProduct& p) {
  if (phase == Phase::kWeightGradient || p.part == LayerPart::kHead) return 0;
  if (p.inner * p.columns <= kMaxPersistentElements) return 0;
  if (p.groups == 0) return s.fetches_modules ? static_cast<std::uint8_t>(p.parts) : 0;
  if (!s.fetches_experts) return 0;
  return s.model->gated && p.part == LayerPart::kExpertFc1 ? 2 : 1;
}

}  // namespace

Operator matrix_product_operator(const ModelBlockBuildContext& e, Phase phase,
                                 const MatrixProduct& p) {
  return {.kind = p.groups > 0 ? OperatorKind::kGroupedLinear : OperatorKind::kLinear,
          .phase = phase,
          .dtype = p.exact  ? e.s.exact
                   : p.wide ? e.s.storage
                            : e.s.matrix,
          .routed = p.groups > 0,
          .shape = {.rows = p.rows, .columns = p.columns, .inner = p.inner, .batch = p.groups},
          .rows = e.rows,
          .part = p.part,
          .module_fetches = module_fetches(e.s, phase, p),
          .parameter = e.out.parameter_of_layer_part(p.part)};
}

TensorId create_matrix_product_result(ModelBlockBuildContext& e, std::string_view name,
                                      const MatrixProduct& p, std::int64_t columns) {
  return e.out.tensor({.name = name,
                       .dtype = e.s.storage,
                       .routed = p.groups > 0,
                       .extents = {p.rows, columns, 1}});
}

namespace {

/// Returns the tensor of a product's weight as it is multiplied. A weight that is stored narrow is
/// converted whole before each use (bitsandbytes bitsandbytes/autograd/_functions.py, MatMul4Bit;
/// torchtune torchtune/modules/low_precision/nf4_linear.py). Products in fp8 use an fp8 base
/// without conversion.
TensorId wide_weight(ModelBlockBuildContext& e, Phase phase, const MatrixProduct& p) {
  const ParameterId parameter = e.out.parameter_of_layer_part(p.part);
  const bool narrow =
      parameter >= 0 && e.out.piece().parameters[static_cast<std::size_t>(parameter)].narrow;
  if (!narrow || element_size_centibits(e.s.matrix) <= element_size_centibits(e.s.base))
    return e.parameters;
  const std::int64_t matrices = std::max<std::int64_t>(1, p.groups);
  const TensorId weight = create_activation_tensor(e, "weight", matrices * p.inner, p.columns);
  e.out.add({.kind = OperatorKind::kDequantize,
             .phase = phase,
             .dtype = e.s.storage,
             .shape = {.rows = matrices * p.inner,
                       .columns = p.columns,
                       .inner = element_size_centibits(e.s.base)},
             .part = p.part,
             .parameter = parameter},
            {e.parameters}, {weight});
  return weight;
}

}  // namespace

bool is_block_parameter_trained(const ModelBlockBuildContext& e, ParameterId parameter) {
  return parameter >= 0 && !e.out.piece().parameters[static_cast<std::size_t>(parameter)].frozen;
}

TensorId parameter_gradient_tensor(const ModelBlockBuildContext& e, ParameterId parameter) {
  return parameter < 0 || is_block_parameter_trained(e, parameter) ? e.gradients : -1;
}

namespace {

bool is_narrow(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return e.s.narrow_operand_layout_count > 0 && !p.wide;
}

/// Creates a tensor for narrow copies of rows in `layouts` layouts; -1 if there are none.
TensorId narrow_copies(ModelBlockBuildContext& e, const TemplateTensor& rows,
                       std::int64_t layouts) {
  if (layouts == 0) return -1;
  TemplateTensor copies = rows;
  copies.name = "narrow";
  copies.kind = TensorPurpose::kActivation;
  copies.dtype = e.s.matrix;
  copies.extents[2] = layouts;
  return e.out.tensor(copies);
}

/// Creates the narrow copies of the gradient of a product's result, which stay in memory while it
/// is multiplied.
TensorId narrow_gradient(ModelBlockBuildContext& e, TensorId dy, const MatrixProduct& p,
                         std::int64_t layouts) {
  return narrow_copies(e, e.out.at(dy), is_narrow(e, p) ? layouts : 0);
}

/// True for a product whose input another operator keeps anyway.
bool shares_input(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return e.s.matrix != DType::kFp8 &&
         (p.part == LayerPart::kAttentionOutput || p.part == LayerPart::kSharedFc1);
}

TensorId multiplied(ModelBlockBuildContext& e, TensorId x, const MatrixProduct& p,
                    std::initializer_list<TensorId> kept) {
  const TensorId weight = wide_weight(e, e.forward, p);
  const TensorId y = create_matrix_product_result(e, layer_part_name(p.part), p, p.columns);
  std::vector<TensorId> writes = {y};
  writes.insert(writes.end(), kept.begin(), kept.end());
  e.out.add(matrix_product_operator(e, e.forward, p), std::vector{x, p.counts, weight}, writes);
  return y;
}

}  // namespace

bool keeps_low_precision_input_copy(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return is_narrow(e, p) && backward_needs_input(e, p) && !matrix_product_has_lora_adapter(e, p) &&
         !shares_input(e, p);
}

TensorId append_matrix_product(ModelBlockBuildContext& e, TensorId x, const MatrixProduct& p) {
  return multiplied(e, x, p, {});
}

TensorId append_matrix_product_keeping_input(ModelBlockBuildContext& e, TensorId x,
                                             const MatrixProduct& p, KeptTensorRole role,
                                             TensorId own) {
  if (!is_narrow(e, p)) {
    e.kept.set(role, own);
    return append_matrix_product(e, x, p);
  }
  const bool keeps = keeps_low_precision_input_copy(e, p);
  const TensorId copy = keeps ? narrow_copies(e, e.out.at(own), 1) : -1;
  e.kept.set(role, keeps ? copy : own);
  if (keeps && e.originals != nullptr) e.originals->set(role, own);
  const std::int64_t others = keeps ? e.s.narrow_operand_layout_count - 1 : 1;
  return multiplied(e, x, p, {copy, narrow_copies(e, e.out.at(x), others)});
}

TensorId append_matrix_product_data_gradient(ModelBlockBuildContext& e, TensorId dy,
                                             const MatrixProduct& p, TensorId held, TensorId into) {
  const TensorId weight = wide_weight(e, Phase::kDataGradient, p);
  const TensorId dx = into >= 0 ? into : create_matrix_product_result(e, "gradient", p, p.inner);
  e.out.add(matrix_product_operator(e, Phase::kDataGradient, p), {dy, p.counts, weight, held},
            {dx, narrow_gradient(e, dy, p, e.s.narrow_operand_layout_count)});
  return dx;
}

namespace {

/// Adds the product of a weight gradient. `narrow`: copies that stay in memory while it runs; -1:
/// none.
void add_product(ModelBlockBuildContext& e, const Operator& op,
                 std::initializer_list<TensorId> reads, TensorId narrow) {
  e.out.add(op, reads, {e.gradients, narrow});
  if (e.s.kernels.fused_accumulation) return;
  const std::int64_t matrices = std::max<std::int64_t>(1, op.shape.batch);
  e.out.add({.kind = OperatorKind::kAccumulate,
             .phase = Phase::kWeightGradient,
             .dtype = e.s.gradient,
             .shape = {.rows = matrices * op.shape.inner, .columns = op.shape.columns},
             .part = op.part,
             .parameter = op.parameter},
            {e.gradients}, {e.gradients});
}

}  // namespace

void append_matrix_product_weight_gradient(ModelBlockBuildContext& e, TensorId dy, TensorId x,
                                           const MatrixProduct& p) {
  const Operator op = matrix_product_operator(e, Phase::kWeightGradient, p);
  if (op.parameter >= 0 && !is_block_parameter_trained(e, op.parameter)) return;
  add_product(e, op, {dy, x, p.counts}, narrow_gradient(e, dy, p, 1));
}

void append_weight_gradient_operator(ModelBlockBuildContext& e, const Operator& op, TensorId dy,
                                     TensorId x, TensorId counts) {
  add_product(e, op, {dy, x, counts}, -1);
}

std::int64_t kept_bytes_factor_of_unfused_norm(const StepBuildSettings& setting, bool trained) {
  const std::int64_t wide =
      bytes_of_elements(setting.exact, 8) / bytes_of_elements(setting.storage, 8);
  if (!trained) return wide;
  return wide + (setting.wide_norms ? wide : 1);
}

TensorId norm(ModelBlockBuildContext& e, TensorId x, const ActivationMatrixSize& sheet,
              const NormTensorNames& role) {
  const std::int64_t statistics =
      (e.s.norm_kind_of_part(role.part) == model::Norm::kLayer ? 2 : 1) * role.parts;
  const TensorId y =
      create_activation_tensor(e, layer_part_name(role.part), sheet.rows, sheet.columns);
  const TensorId stats =
      create_activation_tensor(e, "statistics", e.s.exact, sheet.rows, statistics);
  TensorId copies = -1;
  if (!e.s.kernels.fused_norm) {
    const std::int64_t count = kept_bytes_factor_of_unfused_norm(
        e.s, is_block_parameter_trained(e, e.out.parameter_of_layer_part(role.part)));
    copies = e.out.tensor(
        {.name = "copies", .dtype = e.s.storage, .extents = {sheet.rows, sheet.columns, count}});
    e.kept.set(role.copies, copies);
  }
  e.out.add({.kind = OperatorKind::kNorm,
             .phase = e.forward,
             .dtype = e.s.storage,
             .shape = {.rows = sheet.rows, .columns = sheet.columns},
             .part = role.part,
             .parameter = e.out.parameter_of_layer_part(role.part)},
            {x, e.parameters}, {y, stats, copies});
  e.kept.set(role.input, x);
  e.kept.set(role.statistics, stats);
  return y;
}

TensorId append_norm_backward(ModelBlockBuildContext& e, TensorId dy,
                              const ActivationMatrixSize& sheet, const NormTensorNames& role,
                              TensorId residual) {
  const TensorId statistics = tensor_kept_by_forward(e, role.statistics);
  const TensorId copies = tensor_kept_by_forward(e, role.copies);
  const TensorId x =
      copies < 0 || e.kept.has(role.input) ? tensor_kept_by_forward(e, role.input) : -1;
  const TensorId dx = create_activation_tensor(e, "gradient", sheet.rows, sheet.columns);
  e.out.add({.kind = OperatorKind::kNorm,
             .phase = Phase::kDataGradient,
             .dtype = e.s.storage,
             .shape = {.rows = sheet.rows, .columns = sheet.columns},
             .part = role.part,
             .parameter = e.out.parameter_of_layer_part(role.part)},
            {dy, x, statistics, copies, residual, e.parameters},
            {dx, parameter_gradient_tensor(e, e.out.parameter_of_layer_part(role.part))});
  return dx;
}

TensorId enter_tensor_parallel_region(ModelBlockBuildContext& e, TensorId x,
                                      const TensorParallelRegionCrossing& c) {
  if (!e.s.sequence_parallel) return x;
  const TensorId gathered = e.out.tensor({.name = "gathered",
                                          .kind = TensorPurpose::kCommunication,
                                          .dtype = e.out.at(x).dtype,
                                          .extents = {e.s.tokens, c.columns, 1}});
  e.out.add(tensor_message(e, OperatorKind::kAllGather, c), {x}, {gathered});
  copy_layout(e, gathered, c);
  return gathered;
}

TensorId exit_tensor_parallel_region(ModelBlockBuildContext& e, TensorId partial,
                                     const TensorParallelRegionCrossing& c) {
  if (!e.s.tensor_parallel()) return partial;
  if (!e.s.sequence_parallel) {
    e.out.add(tensor_message(e, OperatorKind::kAllReduce, c), {partial}, {partial});
    return partial;
  }
  copy_layout(e, partial, c);
  const TensorId reduced = create_activation_tensor(e, "reduced", e.s.rows, c.columns);
  e.out.add(tensor_message(e, OperatorKind::kReduceScatter, c), {partial}, {reduced});
  return reduced;
}

namespace {

plan::CommunicatorKind group_of(ParallelismScheme scheme) {
  if (scheme == ParallelismScheme::kPipeline) return plan::CommunicatorKind::kPipeline;
  return scheme == ParallelismScheme::kContext ? plan::CommunicatorKind::kContext
                                               : plan::CommunicatorKind::kTensor;
}

}  // namespace

void append_all_reduce(ModelBlockBuildContext& e, ParallelismScheme scheme, TensorId tensor,
                       Phase phase, LayerPart part) {
  const TemplateTensor& summed = e.out.at(tensor);
  e.out.add({.kind = OperatorKind::kAllReduce,
             .phase = phase,
             .stream = stream_of_messages(e.s, scheme),
             .scheme = scheme,
             .group = group_of(scheme),
             .dtype = summed.dtype,
             .payload_elements = summed.elements(),
             .part = part},
            {tensor}, {tensor});
}

void begin_vocabulary_pass(ModelBlockBuildContext& e, schedule::Direction pass) {
  if (e.s.barriers > 0) e.out.begin(pass);
}

TensorId broadcast_residual_rows(ModelBlockBuildContext& e, TensorId rows, Phase phase,
                                 LayerPart part) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId all = rows >= 0 ? rows : create_message_buffer(e, "handed_out", e.s.rows, h);
  e.out.add({.kind = OperatorKind::kBroadcast,
             .phase = phase,
             .stream = stream_of_messages(e.s, ParallelismScheme::kPipeline),
             .scheme = ParallelismScheme::kPipeline,
             .group = plan::CommunicatorKind::kPipeline,
             .dtype = e.s.storage,
             .payload_elements = e.s.rows * h,
             .part = part},
            {rows}, {all});
  return all;
}

namespace {

/// True for a product that Transformer Engine fuses with the norm before it.
bool is_joined_with_norm(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return e.s.kernels.transformer_engine &&
         e.s.model->norm_placement != model::NormPlacement::kAfter &&
         (p.part == LayerPart::kQkv || p.part == LayerPart::kFc1);
}

/// Returns the role under which a product fused with its norm keeps the norm's result of this
/// rank's rows, even if its weight is frozen (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/module/layernorm_linear.py: `ln_out`); nullopt: nothing is kept.
std::optional<KeptTensorRole> engine_input(const ModelBlockBuildContext& e,
                                           const MatrixProduct& p) {
  if (!is_joined_with_norm(e, p) ||
      is_block_parameter_trained(e, e.out.parameter_of_layer_part(p.part)))
    return std::nullopt;
  return p.part == LayerPart::kQkv ? KeptTensorRole::kQkvEngineInput
                                   : KeptTensorRole::kFc1EngineInput;
}

/// True if an adapter must gather rows for itself, because its product provides only this rank's
/// own rows (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/peft/utils.py,
/// `sequence_parallel_input_regather`).
bool gathers_alone(const ModelBlockBuildContext& e, const MatrixProduct& p) {
  return is_joined_with_norm(e, p) && e.s.sequence_parallel && !e.s.keep_gathered &&
         matrix_product_has_lora_adapter(e, p) && !e.s.local_adapters;
}

}  // namespace

TensorId append_column_parallel_product(ModelBlockBuildContext& e, TensorId x, KeptTensorRole input,
                                        const MatrixProduct& p) {
  const TensorParallelRegionCrossing crossing{p.inner, p.part, e.forward};
  const TensorId gathered = enter_tensor_parallel_region(e, x, crossing);
  const TensorId own = e.s.keep_gathered ? gathered : x;
  const auto engine = engine_input(e, p);
  if (engine && (own != x || !backward_needs_input(e, p))) e.kept.set(*engine, x);
  const TensorId y = append_matrix_product_keeping_input(e, gathered, p, input, own);
  append_lora_adapter(
      e, gathers_alone(e, p) ? enter_tensor_parallel_region(e, x, crossing) : gathered, y, p);
  return y;
}

namespace {

/// Writes the backward of several products that share one input: the input gradient of each is
/// reduced while its weight gradient is computed, and the sum comes last.
TensorId backward_of_parts(ModelBlockBuildContext& e, TensorId dy, TensorId x,
                           const MatrixProduct& p, const TensorParallelRegionCrossing& crossing) {
  MatrixProduct part = p;
  part.columns = p.columns / p.parts;
  TensorId sum = -1;
  for (std::int64_t i = 0; i < p.parts; ++i) {
    if (i + 1 == p.parts) part.columns += p.columns % p.parts;
    const TensorId dx =
        exit_tensor_parallel_region(e, append_matrix_product_data_gradient(e, dy, part), crossing);
    append_matrix_product_weight_gradient(e, dy, x, part);
    if (i == 0) {
      sum = dx;
      continue;
    }
    const TensorId both = create_activation_tensor(e, "gradient", e.s.tokens, p.inner);
    e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, p.part,
                          {.rows = e.s.tokens, .columns = p.inner}),
              {sum, dx}, {both});
    sum = both;
  }
  return sum;
}

/// Sums the input gradients of products that share one input: in one kernel if a compiler fuses the
/// operators between products, else one after the other.
void sum_parts(ModelBlockBuildContext& e, TensorId dx, const MatrixProduct& p) {
  if (p.parts == 1) return;
  const bool compiled = e.s.kernels.fused_norm && e.s.kernels.fused_activation;
  const std::int64_t rows = compiled ? p.rows * (p.parts + 1) / 3 : p.rows * (p.parts - 1);
  e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, p.part,
                        {.rows = rows, .columns = p.inner}),
            {dx}, {dx});
}

}  // namespace

TensorId append_column_parallel_product_backward(ModelBlockBuildContext& e, TensorId dy,
                                                 KeptTensorRole input, const MatrixProduct& p) {
  const TensorParallelRegionCrossing crossing{p.inner, p.part, Phase::kDataGradient, true};
  TensorId x = -1;
  if (backward_needs_input(e, p)) {
    x = tensor_kept_by_forward(e, input);
    if (!e.s.keep_gathered) x = enter_tensor_parallel_region(e, x, crossing);
  }
  const bool whole = is_block_parameter_trained(e, e.out.parameter_of_layer_part(p.part));
  if (whole && p.parts > 1 && e.s.tensor_parallel() && !e.s.sequence_parallel) {
    return backward_of_parts(e, dy, x, p, crossing);
  }
  const LoraGradientTensors adapter = adapter_data_gradient(e, dy, p);
  const auto engine = engine_input(e, p);
  const TensorId base =
      append_matrix_product_data_gradient(e, dy, p, engine ? e.kept.get(*engine) : -1);
  sum_parts(e, base, p);
  TensorId dx = -1;
  if (gathers_alone(e, p)) {
    MatrixProduct rows = p;
    rows.rows = e.s.rows;
    dx = add_lora_input_gradient(e, exit_tensor_parallel_region(e, base, crossing),
                                 exit_tensor_parallel_region(e, adapter.input, crossing), rows);
  } else {
    dx = exit_tensor_parallel_region(e, add_lora_input_gradient(e, base, adapter.input, p),
                                     crossing);
  }
  append_matrix_product_weight_gradient(e, dy, x, p);
  append_lora_weight_gradients(e, adapter, x, p);
  return dx;
}

TensorId append_matrix_product_backward(ModelBlockBuildContext& e, TensorId dy,
                                        KeptTensorRole input, const MatrixProduct& p) {
  const LoraGradientTensors adapter = adapter_data_gradient(e, dy, p);
  const TensorId dx =
      add_lora_input_gradient(e, append_matrix_product_data_gradient(e, dy, p), adapter.input, p);
  const TensorId x = backward_needs_input(e, p) ? tensor_kept_by_forward(e, input) : -1;
  append_matrix_product_weight_gradient(e, dy, x, p);
  append_lora_weight_gradients(e, adapter, x, p);
  return dx;
}

void append_dropout(ModelBlockBuildContext& e, TensorId x, KeptTensorRole mask) {
  if (e.s.model->dropout == 0) return;
  const std::int64_t h = e.s.model->hidden;
  const TensorId bits = create_activation_tensor(e, "mask", DType::kInt8, e.s.rows, h);
  e.out.add(computation(e, OperatorKind::kDropout, e.forward, dropout_part(mask),
                        {.rows = e.s.rows, .columns = h}),
            {x}, {x, bits});
  e.kept.set(mask, bits);
}

namespace {

LayerPart residual_part(KeptTensorRole mask) {
  return mask == KeptTensorRole::kAttentionMask ? LayerPart::kAttentionResidual
                                                : LayerPart::kMlpResidual;
}

/// Writes the gradient of a branch whose result is scaled when it is added.
TensorId scaled_gradient(ModelBlockBuildContext& e, TensorId dz, KeptTensorRole mask) {
  if (e.s.model->residual_scale == 1 || mask == KeptTensorRole::kEmbeddingMask) return dz;
  const std::int64_t h = e.s.model->hidden;
  const TensorId dy = create_activation_tensor(e, "gradient", e.s.rows, h);
  e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, residual_part(mask),
                        {.rows = e.s.rows, .columns = h}),
            {dz}, {dy});
  return dy;
}

}  // namespace

TensorId append_residual_addition(ModelBlockBuildContext& e, TensorId x, TensorId y,
                                  KeptTensorRole mask) {
  append_dropout(e, y, mask);
  const std::int64_t h = e.s.model->hidden;
  const TensorId z = create_activation_tensor(e, "residual", e.s.rows, h);
  e.out.add(computation(e, OperatorKind::kAdd, e.forward, residual_part(mask),
                        {.rows = e.s.rows, .columns = h}),
            {x, y}, {z});
  return z;
}

TensorId append_residual_addition_backward(ModelBlockBuildContext& e, TensorId dz,
                                           KeptTensorRole mask) {
  if (!e.kept.has(mask)) return scaled_gradient(e, dz, mask);
  const std::int64_t h = e.s.model->hidden;
  const TensorId dy = create_activation_tensor(e, "gradient", e.s.rows, h);
  e.out.add(computation(e, OperatorKind::kDropout, Phase::kDataGradient, dropout_part(mask),
                        {.rows = e.s.rows, .columns = h}),
            {dz, e.kept.get(mask)}, {dy});
  return dy;
}

}  // namespace stepwright::step
