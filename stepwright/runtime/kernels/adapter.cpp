// Kernels of an adapter beside a frozen product: B (for each part of a fused product separately),
// the scale, the sum, and the dropout of the input.
#include "stepwright/model/parameters.h"
#include "stepwright/runtime/kernels/dropout_mask.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// A run of columns of a product's result.
struct AdaptedColumns {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

const model::LoraAdapters& adapters(const KernelCall& call) {
  return *call.rank.setting.model->adapters;
}

/// Returns, for each A, this rank's columns to which its B adds; all columns if one adapter covers
/// all parts.
std::vector<AdaptedColumns> adapted_columns(const KernelCall& call) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  const model::LoraAdaptableWeight& entry =
      *model::find_adaptable_weight(step::layer_part_name(call.op.part));
  std::vector<AdaptedColumns> found;
  for (const model::ModelParameter& weight :
       model::layer_parameters(model, model.layer_class(call.layer))) {
    if (weight.name != entry.weight) continue;
    const std::int64_t cut =
        weight.expert ? call.rank.setting.expert_tensor : call.rank.setting.tensor;
    const std::int64_t ranks = weight.split == model::TensorParallelSplit::kColumn ? cut : 1;
    if (adapters(call).joined || weight.fused[0] == 0) return {{0, weight.rows / ranks}};
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < weight.fused.size(); ++i) {
      const std::int64_t count = weight.fused[i] / ranks;
      const auto target = i < entry.parts.size()
                              ? model::lora_target_of_fused_part(entry, weight, i)
                              : std::nullopt;
      if (target && adapters(call).has(*target)) found.push_back({begin, count});
      begin += count;
    }
  }
  return found;
}

/// Returns the i-th of the equal parts of the columns of A's output, one for each A.
at::Tensor narrow_part(const KernelCall& call, const at::Tensor& rows, std::size_t i) {
  const std::int64_t rank = adapters(call).rank;
  return rows.narrow(1, static_cast<std::int64_t>(i) * rank, rank);
}

/// Calls `take` with the number of each part, the first row of its B and the number of these rows.
template <class Take>
void each_part(const KernelCall& call, Take take) {
  std::int64_t first = 0;
  std::size_t i = 0;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    take(i++, first, part.count);
    first += part.count;
  }
}

BlockDropoutKind adapter_place(step::LayerPart part) {
  switch (part) {
    case step::LayerPart::kQkv:
    case step::LayerPart::kQuery: return BlockDropoutKind::kQkvAdapter;
    case step::LayerPart::kQueryDown: return BlockDropoutKind::kQueryDownAdapter;
    case step::LayerPart::kQueryUp: return BlockDropoutKind::kQueryUpAdapter;
    case step::LayerPart::kKeyValueDown: return BlockDropoutKind::kKeyValueDownAdapter;
    case step::LayerPart::kKeyValueUp: return BlockDropoutKind::kKeyValueUpAdapter;
    case step::LayerPart::kSharedFc1: return BlockDropoutKind::kSharedFc1Adapter;
    case step::LayerPart::kSharedFc2: return BlockDropoutKind::kSharedFc2Adapter;
    case step::LayerPart::kAttentionOutput: return BlockDropoutKind::kProjectionAdapter;
    case step::LayerPart::kFc1: return BlockDropoutKind::kFc1Adapter;
    default: return BlockDropoutKind::kFc2Adapter;
  }
}

double adapter_kept_scale(const KernelCall& call) { return 1 / (1 - adapters(call).dropout); }

}  // namespace

std::int64_t lora_a_output_columns(const KernelCall& call) {
  return adapters(call).rank * static_cast<std::int64_t>(adapted_columns(call).size());
}

at::Tensor lora_b_product(const KernelCall& call, const at::Tensor& rows,
                          const at::Tensor& weight) {
  std::vector<at::Tensor> parts;
  each_part(call, [&](std::size_t i, std::int64_t first, std::int64_t count) {
    parts.push_back(at::mm(narrow_part(call, rows, i), weight.narrow(0, first, count).t()));
  });
  return at::cat(parts, 1);
}

at::Tensor adapter_up_data_gradient(const KernelCall& call, const at::Tensor& dy,
                                    const at::Tensor& weight) {
  std::vector<at::Tensor> parts;
  each_part(call, [&](std::size_t, std::int64_t first, std::int64_t count) {
    parts.push_back(at::mm(dy.narrow(1, first, count), weight.narrow(0, first, count)));
  });
  return at::cat(parts, 1);
}

void add_lora_b_weight_gradient(const KernelCall& call, const LoraGradientInputs& rows,
                                const at::Tensor& gradient, double share) {
  each_part(call, [&](std::size_t i, std::int64_t first, std::int64_t count) {
    const at::Tensor own = rows.gradient.narrow(1, first, count);
    gradient.narrow(0, first, count)
        .add_(at::mm(own.t(), narrow_part(call, rows.narrow, i)), share);
  });
}

/// Multiplies by the adapter's scale: in the forward its result; in the backward the columns of the
/// product's gradient that the adapter adds to.
void adapter_scale(KernelCall& call) {
  const double scale = adapters(call).scale();
  if (!step::is_backward_phase(call.op.phase))
    return call.write_result(0, call.read_operand(0) * scale);
  std::vector<at::Tensor> parts;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    parts.push_back(call.read_operand(0).narrow(1, part.begin, part.count));
  }
  call.write_result(0, at::cat(parts, 1) * scale);
}

/// Adds the adapter: in the forward to the columns of the product's result; in the backward to the
/// gradient of its input.
void adapter_add(KernelCall& call) {
  at::Tensor sum = call.read_operand(0);
  if (step::is_backward_phase(call.op.phase)) {
    sum.add_(call.read_operand(1));
    return call.write_result(0, std::move(sum));
  }
  std::int64_t first = 0;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    sum.narrow(1, part.begin, part.count).add_(call.read_operand(1).narrow(1, first, part.count));
    first += part.count;
  }
  call.write_result(0, std::move(sum));
}

void adapter_dropout(KernelCall& call) {
  const at::Tensor& x = call.read_operand(0);
  const std::int64_t own = x.size(1);
  const step::LayerPart part = call.op.part;
  const bool cut = part == step::LayerPart::kAttentionOutput || part == step::LayerPart::kFc2 ||
                   part == step::LayerPart::kSharedFc2;
  const std::int64_t ranks = cut ? call.rank.setting.tensor : 1;
  const std::int64_t first = cut ? call.rank.place.tensor * own : 0;
  DropoutGeneratorInputs draw = dropout_generator_inputs(call, adapter_place(call.op.part));
  draw.probability = adapters(call).dropout;
  at::Tensor kept = dropout_keep_mask(
      draw, {.rows = call.token_indices_in_global_batch(x.size(0)),
             .columns = at::arange(first, first + own, call.rank.index_tensor_options()),
             .width = own * ranks});
  call.write_result(0, (x * kept).mul_(adapter_kept_scale(call)));
  call.write_result(1, std::move(kept));
}

void adapter_dropout_backward(KernelCall& call) {
  call.write_result(0,
                    (call.read_operand(0) * call.read_operand(1)).mul_(adapter_kept_scale(call)));
}

}  // namespace stepwright::runtime
