#include "stepwright/runtime/kernels/mixer_parts.h"

#include <algorithm>
#include <numeric>

namespace stepwright::runtime {

PartSizes MixerLayerSizes::input_projection_part_widths() const {
  switch (kind) {
    case model::TokenMixer::kDeltaNet: return {keys(), keys(), values(), values(), heads, heads};
    case model::TokenMixer::kMamba2: return {values(), values(), keys(), keys(), heads};
    case model::TokenMixer::kMamba: return {values(), values()};
    default: return {values(), values(), values()};
  }
}

PartSizes MixerLayerSizes::convolution_channel_counts() const {
  switch (kind) {
    case model::TokenMixer::kDeltaNet: return {keys(), keys(), values()};
    case model::TokenMixer::kMamba2: return {values(), keys(), keys()};
    default: return {values()};
  }
}

std::int64_t MixerLayerSizes::convolution_input_first_column() const {
  return kind == model::TokenMixer::kMamba2 ? values() : 0;
}

std::int64_t MixerLayerSizes::gates_first_column() const {
  switch (kind) {
    case model::TokenMixer::kDeltaNet: return 2 * keys() + values();
    case model::TokenMixer::kMamba: return values();
    default: return 0;
  }
}

std::int64_t MixerLayerSizes::head_scalars_first_column() const {
  return 2 * keys() + 2 * values();
}

MixerLayerSizes mixer_parts(const RankState& rank, model::TokenMixer kind) {
  const step::StepBuildSettings& s = rank.setting;
  const model::RecurrentMixer& m = *s.model->state_mixer;
  const std::int64_t ranks = s.tensor * s.context;
  return {.kind = kind,
          .ranks = s.context,
          .heads = m.heads / ranks,
          .head_dim = m.head_dim,
          .groups = std::max<std::int64_t>(1, m.groups / ranks),
          .state = m.state};
}

at::Tensor context_rank_column_indices(const MixerLayerSizes& parts, const PartSizes& sizes,
                                       std::int64_t rank, const at::TensorOptions& indices) {
  std::vector<at::Tensor> runs;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    runs.push_back(at::arange(first + rank * size, first + (rank + 1) * size, indices));
    first += parts.ranks * size;
  }
  return at::cat(runs);
}

namespace {

/// Returns the indices of the rows of a parameter that this context rank uses; all if there is one
/// rank.
at::Tensor own_rows(const KernelCall& call, const MixerLayerSizes& parts, const PartSizes& sizes) {
  return context_rank_column_indices(parts, sizes, call.rank.place.context,
                                     call.rank.index_tensor_options());
}

}  // namespace

at::Tensor parameter_part_on_this_rank(const KernelCall& call, const MixerLayerSizes& parts,
                                       std::string_view name, const PartSizes& sizes) {
  const at::Tensor all = call.operator_weight(name);
  if (!all.defined()) return all;
  return all.to(call.data_type_of_statistics()).index_select(0, own_rows(call, parts, sizes));
}

void add_to_rank_gradient(const KernelCall& call, const MixerLayerSizes& parts,
                          std::string_view name, const PartSizes& sizes,
                          const at::Tensor& gradient) {
  const at::Tensor all = call.gradient(name);
  if (!all.defined()) return;
  const at::Tensor own = all.dim() == 1 ? gradient.flatten() : gradient;
  all.index_add_(0, own_rows(call, parts, sizes), own.to(all.scalar_type()));
}

at::Tensor split_columns_by_head(const KernelCall& call, const at::Tensor& rows, std::int64_t first,
                                 std::int64_t count, std::int64_t heads) {
  return rows.narrow(1, first, count)
      .to(call.data_type_of_statistics())
      .reshape({-1, call.rank.setting.length, heads, count / heads});
}

at::Tensor as_rows(const at::Tensor& heads, const at::Tensor& like) {
  return heads.reshape({heads.size(0) * heads.size(1), -1}).to(like.scalar_type());
}

}  // namespace stepwright::runtime
