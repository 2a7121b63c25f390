#include "stepwright/step/setting.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

/// Norms of single heads, of which each tensor rank has its own.
bool of_heads(const Parameter& whole, const Setting& s) {
  if (!s.model->qk_norm || s.model->latent || s.tensor == 1) return false;
  return whole.name == "attention.q_norm" || whole.name == "attention.k_norm";
}

LocalParameter localize(const Parameter& whole, const Setting& s) {
  LocalParameter local{.name = whole.name,
                       .rows = whole.rows,
                       .columns = whole.columns,
                       .copies = whole.copies,
                       .expert = whole.expert,
                       .tensor_replicated = !whole.expert && whole.split == Split::kReplicated,
                       .row_parallel = whole.split == Split::kRow};
  const std::int64_t cut = whole.expert ? s.expert_tensor : s.tensor;
  if (whole.expert) local.copies = whole.copies / s.expert;
  if (whole.split == Split::kColumn) local.rows = divide_up(whole.rows, cut);
  if (whole.split == Split::kRow) local.columns = divide_up(whole.columns, cut);
  if (whole.split == Split::kVocabulary) local.rows = s.vocabulary;
  local.tensor_partial = local.tensor_replicated && (s.sequence_parallel || of_heads(whole, s));
  local.blocks = whole.expert ? s.expert_blocks : s.dense_blocks;
  return local;
}

std::vector<LocalParameter> localize(const std::vector<Parameter>& whole, const Setting& s) {
  std::vector<LocalParameter> local;
  local.reserve(whole.size());
  for (const Parameter& parameter : whole) {
    if (parameter.trained) local.push_back(localize(parameter, s));
  }
  return local;
}

bool splits(Spread spread, std::int64_t inner, std::int64_t world) {
  return (spread == Spread::kInner && inner > 1) || (spread == Spread::kGlobal && world > 1);
}

template <class Predicate>
std::int64_t sum_where(const std::vector<LocalParameter>& parameters, Predicate holds) {
  std::int64_t sum = 0;
  for (const LocalParameter& parameter : parameters) {
    if (holds(parameter)) sum += parameter.padded();
  }
  return sum;
}

}  // namespace

Setting make_setting(const Job& job, const Plan& plan) {
  Setting s;
  s.model = &job.model;
  s.batch = plan.micro_batch;
  s.length = job.length;
  s.context = plan.parallel.context;
  s.tensor = plan.parallel.tensor;
  s.expert = plan.parallel.expert;
  s.expert_tensor = plan.parallel.expert_tensor;
  s.tokens = s.batch * (s.length / s.context);
  s.sequence_parallel = plan.sequence_parallel && s.tensor > 1;
  s.rows = s.sequence_parallel ? s.tokens / s.tensor : s.tokens;
  s.vocabulary = padded_vocabulary(job.model.vocabulary, s.tensor) / s.tensor;
  s.keep_gathered = plan.tensor_input == TensorInput::kKeep;
  s.context_kind = plan.context_kind;
  s.storage = storage_type(job.precision);
  s.matrix = job.precision;
  s.gradient = plan.accumulate;
  s.exact = s.storage == DType::kFp64 ? DType::kFp64 : DType::kFp32;
  s.kernels = job.kernels;
  s.dispatcher = job.dispatcher;
  s.overlap = plan.overlap;
  const Parallel& size = plan.parallel;
  const std::int64_t world = size.data * size.context;
  const std::int64_t expert_world = world * size.tensor / (size.expert * size.expert_tensor);
  const Sharding& sharding = plan.sharding;
  if (sharding.optimizer != Spread::kNone) {
    s.dense_blocks = world;
    s.expert_blocks = std::max<std::int64_t>(1, expert_world);
  }
  s.gather_dense = splits(sharding.parameters, sharding.group, world);
  s.gather_expert = splits(sharding.parameters, sharding.expert_group, expert_world);
  s.reduce_dense = splits(sharding.gradients, sharding.group, world);
  s.reduce_expert = splits(sharding.gradients, sharding.expert_group, expert_world);
  const bool experts = job.model.experts.has_value();
  s.gather_expert = s.gather_expert && experts;
  s.reduce_expert = s.reduce_expert && experts;
  return s;
}

std::vector<LocalParameter> local_layer_parameters(const Setting& setting, LayerClass layer) {
  return localize(layer_parameters(*setting.model, layer), setting);
}

std::vector<LocalParameter> local_embedding_parameters(const Setting& setting) {
  return localize(embedding_parameters(*setting.model), setting);
}

std::vector<LocalParameter> local_head_parameters(const Setting& setting, bool own_table) {
  std::vector<LocalParameter> local = localize(head_parameters(*setting.model), setting);
  if (setting.model->tied) {
    local.push_back({.name = "head.weight",
                     .rows = setting.vocabulary,
                     .columns = setting.model->hidden,
                     .borrowed = !own_table,
                     .blocks = setting.dense_blocks});
  }
  return local;
}

UnitSize& UnitSize::operator+=(const UnitSize& other) {
  dense += other.dense;
  expert += other.expert;
  borrowed += other.borrowed;
  partial += other.partial;
  return *this;
}

UnitSize unit_size(const std::vector<LocalParameter>& parameters) {
  return {sum_where(parameters, [](const auto& p) { return !p.expert && !p.borrowed; }),
          sum_where(parameters, [](const auto& p) { return p.expert; }),
          sum_where(parameters, [](const auto& p) { return p.borrowed; }),
          sum_where(parameters, [](const auto& p) { return p.tensor_partial; })};
}

Tensor gathered_tensor(const Setting& s, const UnitSize& unit) {
  const std::int64_t elements =
      (s.gather_dense ? unit.dense + unit.borrowed : 0) + (s.gather_expert ? unit.expert : 0);
  return {.name = "parameters",
          .kind = TensorKind::kGathered,
          .dtype = s.storage,
          .extents = {elements, 1, 1}};
}

Tensor gradient_tensor(const Setting& s, const UnitSize& unit) {
  const std::int64_t elements =
      (s.reduce_dense ? unit.dense + unit.borrowed : 0) + (s.reduce_expert ? unit.expert : 0);
  return {.name = "gradients",
          .kind = TensorKind::kGathered,
          .dtype = s.gradient,
          .extents = {elements, 1, 1}};
}

}  // namespace stepwright
