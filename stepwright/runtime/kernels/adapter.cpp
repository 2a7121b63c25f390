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

const model::LoraAdapters& adapters(const Call& call) { return *call.rank.setting.model->adapters; }

/// Returns, for each A, this rank's columns to which its B adds; all columns if one adapter covers
/// all parts.
std::vector<AdaptedColumns> adapted_columns(const Call& call) {
  const model::Architecture& model = *call.rank.setting.model;
  const model::AdaptableWeight& entry = *model::find_adaptable_weight(step::name_of(call.op.part));
  std::vector<AdaptedColumns> found;
  for (const model::Parameter& weight :
       model::layer_parameters(model, model.layer_class(call.layer))) {
    if (weight.name != entry.weight) continue;
    const std::int64_t cut =
        weight.expert ? call.rank.setting.expert_tensor : call.rank.setting.tensor;
    const std::int64_t ranks = weight.split == model::TensorParallelSplit::kColumn ? cut : 1;
    if (adapters(call).joined || weight.fused[0] == 0) return {{0, weight.rows / ranks}};
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < weight.fused.size(); ++i) {
      const std::int64_t count = weight.fused[i] / ranks;
      const auto target =
          i < entry.parts.size() ? model::adapter_target_of_part(entry, weight, i) : std::nullopt;
      if (target && adapters(call).has(*target)) found.push_back({begin, count});
      begin += count;
    }
  }
  return found;
}

/// Returns the i-th of the equal parts of the columns of A's output, one for each A.
at::Tensor narrow_part(const Call& call, const at::Tensor& rows, std::size_t i) {
  const std::int64_t rank = adapters(call).rank;
  return rows.narrow(1, static_cast<std::int64_t>(i) * rank, rank);
}

/// Calls `take` with the number of each part, the first row of its B and the number of these rows.
template <class Take>
void each_part(const Call& call, Take take) {
  std::int64_t first = 0;
  std::size_t i = 0;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    take(i++, first, part.count);
    first += part.count;
  }
}

DropoutPlace adapter_place(step::LayerPart part) {
  switch (part) {
    case step::LayerPart::kQkv:
    case step::LayerPart::kQuery: return DropoutPlace::kQkvAdapter;
    case step::LayerPart::kQueryDown: return DropoutPlace::kQueryDownAdapter;
    case step::LayerPart::kQueryUp: return DropoutPlace::kQueryUpAdapter;
    case step::LayerPart::kKeyValueDown: return DropoutPlace::kKeyValueDownAdapter;
    case step::LayerPart::kKeyValueUp: return DropoutPlace::kKeyValueUpAdapter;
    case step::LayerPart::kSharedFc1: return DropoutPlace::kSharedFc1Adapter;
    case step::LayerPart::kSharedFc2: return DropoutPlace::kSharedFc2Adapter;
    case step::LayerPart::kAttentionOutput: return DropoutPlace::kProjectionAdapter;
    case step::LayerPart::kFc1: return DropoutPlace::kFc1Adapter;
    default: return DropoutPlace::kFc2Adapter;
  }
}

double adapter_kept_scale(const Call& call) { return 1 / (1 - adapters(call).dropout); }

}  // namespace

std::int64_t adapter_down_output_columns(const Call& call) {
  return adapters(call).rank * static_cast<std::int64_t>(adapted_columns(call).size());
}

at::Tensor adapter_up_product(const Call& call, const at::Tensor& rows, const at::Tensor& weight) {
  std::vector<at::Tensor> parts;
  each_part(call, [&](std::size_t i, std::int64_t first, std::int64_t count) {
    parts.push_back(at::mm(narrow_part(call, rows, i), weight.narrow(0, first, count).t()));
  });
  return at::cat(parts, 1);
}

at::Tensor adapter_up_data_gradient(const Call& call, const at::Tensor& dy,
                                    const at::Tensor& weight) {
  std::vector<at::Tensor> parts;
  each_part(call, [&](std::size_t, std::int64_t first, std::int64_t count) {
    parts.push_back(at::mm(dy.narrow(1, first, count), weight.narrow(0, first, count)));
  });
  return at::cat(parts, 1);
}

void adapter_up_weight_gradient(const Call& call, const AdapterGradientInputs& rows,
                                const at::Tensor& gradient, double share) {
  each_part(call, [&](std::size_t i, std::int64_t first, std::int64_t count) {
    const at::Tensor own = rows.gradient.narrow(1, first, count);
    gradient.narrow(0, first, count)
        .add_(at::mm(own.t(), narrow_part(call, rows.narrow, i)), share);
  });
}

/// Multiplies by the adapter's scale: in the forward its result; in the backward the columns of the
/// product's gradient that the adapter adds to.
void adapter_scale(Call& call) {
  const double scale = adapters(call).scale();
  if (!step::is_backward(call.op.phase)) return call.write(0, call.read(0) * scale);
  std::vector<at::Tensor> parts;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    parts.push_back(call.read(0).narrow(1, part.begin, part.count));
  }
  call.write(0, at::cat(parts, 1) * scale);
}

/// Adds the adapter: in the forward to the columns of the product's result; in the backward to the
/// gradient of its input.
void adapter_add(Call& call) {
  at::Tensor sum = call.read(0);
  if (step::is_backward(call.op.phase)) {
    sum.add_(call.read(1));
    return call.write(0, std::move(sum));
  }
  std::int64_t first = 0;
  for (const AdaptedColumns& part : adapted_columns(call)) {
    sum.narrow(1, part.begin, part.count).add_(call.read(1).narrow(1, first, part.count));
    first += part.count;
  }
  call.write(0, std::move(sum));
}

void adapter_dropout(Call& call) {
  const at::Tensor& x = call.read(0);
  const std::int64_t own = x.size(1);
  const step::LayerPart part = call.op.part;
  const bool cut = part == step::LayerPart::kAttentionOutput || part == step::LayerPart::kFc2 ||
                   part == step::LayerPart::kSharedFc2;
  const std::int64_t ranks = cut ? call.rank.setting.tensor : 1;
  const std::int64_t first = cut ? call.rank.place.tensor * own : 0;
  DropoutGeneratorInputs draw = dropout_generator_inputs(call, adapter_place(call.op.part));
  draw.probability = adapters(call).dropout;
  at::Tensor kept = dropout_keep_mask(
      draw, {.rows = call.places(x.size(0)),
             .columns = at::arange(first, first + own, call.rank.index_tensor_options()),
             .width = own * ranks});
  call.write(0, (x * kept).mul_(adapter_kept_scale(call)));
  call.write(1, std::move(kept));
}

void adapter_dropout_backward(Call& call) {
  call.write(0, (call.read(0) * call.read(1)).mul_(adapter_kept_scale(call)));
}

}  // namespace stepwright::runtime
