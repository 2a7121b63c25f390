#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string_view>

#include "stepwright/core/divide_up.h"
#include "stepwright/core/error.h"
#include "stepwright/fit/samples/operator_sample.h"

namespace stepwright::fit {
namespace {

/// How the shape of a sampled operator follows from its row.
enum class Layout : std::uint8_t {
  kQkv,
  kAttentionOut,
  kMlpUp,
  kMlpDown,
  kHead,
  kAttention,
  kScoreRows,
  kFullRows,
  kMlpRows,
  kRotated,
  kVocabularyRows,
  kEmbedding,
  kUpdate,
  kFirstUpdate,
  kLastUpdate,
  kWholeUpdate
};

struct Known {
  std::string_view op;
  cost::OperatorClass what;
  step::OperatorKind kind;
  Layout layout;
};

constexpr Known kKnown[] = {
    {"linear_qkv", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Layout::kQkv},
    {"linear_attn_out", cost::OperatorClass::kProduct, step::OperatorKind::kLinear,
     Layout::kAttentionOut},
    {"linear_mlp_up", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Layout::kMlpUp},
    {"linear_mlp_down", cost::OperatorClass::kProduct, step::OperatorKind::kLinear,
     Layout::kMlpDown},
    {"linear_lm_head", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Layout::kHead},
    {"attn_scores_bmm", cost::OperatorClass::kScores, step::OperatorKind::kScores,
     Layout::kAttention},
    {"attn_context_bmm", cost::OperatorClass::kAttendValues, step::OperatorKind::kAttendValues,
     Layout::kAttention},
    {"flash_attention_noncausal", cost::OperatorClass::kAttention, step::OperatorKind::kAttention,
     Layout::kAttention},
    {"attn_mask_fill", cost::OperatorClass::kMask, step::OperatorKind::kSoftmax,
     Layout::kScoreRows},
    {"softmax_unfused", cost::OperatorClass::kUnfusedSoftmax, step::OperatorKind::kSoftmax,
     Layout::kScoreRows},
    {"softmax_causal_fused", cost::OperatorClass::kCausalSoftmax, step::OperatorKind::kSoftmax,
     Layout::kScoreRows},
    {"layernorm", cost::OperatorClass::kNorm, step::OperatorKind::kNorm, Layout::kFullRows},
    {"rmsnorm_unfused", cost::OperatorClass::kUnfusedNorm, step::OperatorKind::kNorm,
     Layout::kFullRows},
    {"residual_add", cost::OperatorClass::kResidual, step::OperatorKind::kAdd, Layout::kFullRows},
    {"gelu", cost::OperatorClass::kActivation, step::OperatorKind::kActivation, Layout::kMlpRows},
    {"rope", cost::OperatorClass::kUnfusedRotary, step::OperatorKind::kRotary, Layout::kRotated},
    {"cross_entropy", cost::OperatorClass::kLoss, step::OperatorKind::kLossLocal,
     Layout::kVocabularyRows},
    {"embedding", cost::OperatorClass::kEmbedding, step::OperatorKind::kEmbedding,
     Layout::kEmbedding},
    {"adam_first_stage", cost::OperatorClass::kOptimizer, step::OperatorKind::kOptimizer,
     Layout::kFirstUpdate},
    {"adam_middle_stage", cost::OperatorClass::kOptimizer, step::OperatorKind::kOptimizer,
     Layout::kUpdate},
    {"adam_last_stage", cost::OperatorClass::kOptimizer, step::OperatorKind::kOptimizer,
     Layout::kLastUpdate},
    {"adam_whole_model", cost::OperatorClass::kUnfusedOptimizer, step::OperatorKind::kOptimizer,
     Layout::kWholeUpdate}};

/// Vocabulary of the sampled models, padded to a multiple of 128 per tensor rank.
constexpr std::int64_t kVocabulary = 50257;
/// Bytes counted for one parameter's update, whatever the sampled kernel moved: fp32 gradient read,
/// master copy and two moments read and written, 16-bit copy written.
constexpr std::int64_t kUpdateBytes = 30;

std::int64_t local_vocabulary(const SampledSizes& s) {
  return ceil_divide(kVocabulary, 128 * s.tensor) * 128;
}

struct Need {
  std::string_view name;
  std::int64_t value;
};

void require(const SampledSizes& s, std::initializer_list<Need> needs) {
  for (const Need& need : needs) {
    if (need.value <= 0) fail_input(fmt::format("{} needs a positive `{}`", s.op, need.name));
  }
}

step::OperatorShape product_shape(const SampledSizes& s, Layout layout) {
  require(s, {{"batch", s.batch}, {"seq", s.length}, {"hidden", s.hidden}});
  const std::int64_t h = s.hidden, t = s.tensor;
  step::OperatorShape shape{.rows = s.batch * s.length};
  switch (layout) {
    case Layout::kQkv: shape.columns = 3 * h / t, shape.inner = h; break;
    case Layout::kAttentionOut: shape.columns = h, shape.inner = h / t; break;
    case Layout::kMlpUp: shape.columns = 4 * h / t, shape.inner = h; break;
    case Layout::kMlpDown: shape.columns = h, shape.inner = 4 * h / t; break;
    default: shape.columns = local_vocabulary(s), shape.inner = h; break;
  }
  return shape;
}

/// Returns the shape of an attention. `hidden` 0: for rows of scores, which do not depend on it.
step::OperatorShape attention_shape_of(const SampledSizes& s) {
  require(s, {{"batch", s.batch}, {"seq", s.length}, {"heads", s.heads}});
  const std::int64_t head_dim = s.hidden / s.heads;
  return {.batch = s.batch,
          .heads = ceil_divide(s.heads, s.tensor),
          .kv_heads = ceil_divide(s.heads, s.tensor),
          .queries = s.length,
          .keys = s.length,
          .head_dim = head_dim,
          .value_dim = head_dim,
          .pairs = s.length * s.length};
}

step::OperatorShape row_shape(const SampledSizes& s, Layout layout) {
  require(s, {{"batch", s.batch}, {"seq", s.length}});
  step::OperatorShape shape{.rows = s.batch * s.length, .columns = s.hidden};
  if (layout == Layout::kVocabularyRows) {
    shape.columns = local_vocabulary(s);
    return shape;
  }
  require(s, {{"hidden", s.hidden}});
  if (layout == Layout::kMlpRows) shape.columns = 4 * s.hidden / s.tensor;
  if (layout == Layout::kEmbedding) shape.inner = local_vocabulary(s);
  if (layout == Layout::kRotated) {
    require(s, {{"heads", s.heads}});
    shape.rows = shape.rows * s.heads / s.tensor;
    shape.columns = s.hidden / s.heads;
  }
  return shape;
}

step::OperatorShape update_shape(const SampledSizes& s, Layout layout) {
  require(s, {{"hidden", s.hidden}, {"layers", s.layers}});
  const std::int64_t h = s.hidden;
  const std::int64_t cut = 3 * h * (h + 1) + h * (h + 1) + 4 * h * (h + 1) + h * (4 * h + 1);
  std::int64_t tables = layout == Layout::kUpdate ? 0 : 1;
  if (layout == Layout::kWholeUpdate) tables = 2;
  return {.rows = s.layers * (4 * h + cut / s.tensor) + tables * local_vocabulary(s) * h,
          .inner = kUpdateBytes,
          .batch = s.layers};
}

step::OperatorShape shape_of(const SampledSizes& s, Layout layout) {
  if (layout <= Layout::kHead) return product_shape(s, layout);
  if (layout == Layout::kAttention) require(s, {{"hidden", s.hidden}});
  if (layout <= Layout::kScoreRows) return attention_shape_of(s);
  if (layout <= Layout::kEmbedding) return row_shape(s, layout);
  return update_shape(s, layout);
}

}  // namespace

std::optional<SampledOperator> sampled_operator(const SampledSizes& sizes) {
  for (const Known& known : kKnown) {
    if (known.op != sizes.op) continue;
    require(sizes, {{"tp", sizes.tensor}});
    SampledOperator sampled{.what = known.what};
    sampled.op.kind = known.kind;
    sampled.op.dtype = known.kind == step::OperatorKind::kLossLocal ? DType::kFp32 : DType::kFp16;
    sampled.op.shape = shape_of(sizes, known.layout);
    for (const std::int64_t size : {sizes.hidden, sizes.heads, sizes.length}) {
      if (sampled.hold_out == 0) sampled.hold_out = size;
    }
    return sampled;
  }
  return std::nullopt;
}

}  // namespace stepwright::fit
