#include "stepwright/step/setting.h"

#include <algorithm>
#include <iterator>

#include "stepwright/core/divide_up.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/optimizer_traits.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/step/data_messages.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/narrow_operands.h"

namespace stepwright::step {
namespace {

RankLocalParameter localize(const model::ModelParameter& whole, const StepBuildSettings& s) {
  RankLocalParameter local{
      .name = whole.name,
      .rows = whole.rows,
      .columns = whole.columns,
      .copies = whole.copies,
      .expert = whole.expert,
      .tensor_replicated = !whole.expert && whole.split == model::TensorParallelSplit::kReplicated,
      .row_parallel = whole.split == model::TensorParallelSplit::kRow,
      .frozen = whole.frozen,
      .narrow = whole.narrow};
  const std::int64_t cut = whole.expert ? s.expert_tensor : s.tensor;
  if (whole.expert) local.copies = whole.copies / s.expert;
  if (whole.split == model::TensorParallelSplit::kColumn) local.rows = ceil_divide(whole.rows, cut);
  if (whole.split == model::TensorParallelSplit::kRow)
    local.columns = ceil_divide(whole.columns, cut);
  if (whole.split == model::TensorParallelSplit::kVocabulary) local.rows = s.vocabulary;
  // Each tensor rank holds its own heads' share of a per-head norm, and its own share of an adapter
  // as of the product beside it.
  const bool part = (whole.per_head || whole.partial) && s.tensor > 1;
  local.tensor_partial = local.tensor_replicated && !whole.frozen && (s.sequence_parallel || part);
  if (whole.expert) local.tensor_partial = whole.partial && s.expert_tensor > 1;
  local.blocks = whole.expert ? s.expert_blocks : s.dense_blocks;
  local.matrices = stacked_matrix_sizes(whole, local, {s.optimizer, s.muon, cut});
  return local;
}

/// Returns a table or bias that is also listed by the other end of the model under another name;
/// `whole.columns` is its width, and its rows are the vocabulary.
RankLocalParameter shared_table(const StepBuildSettings& s, model::ModelParameter whole,
                                bool borrowed) {
  whole.rows = s.model->vocabulary;
  whole.split = model::TensorParallelSplit::kVocabulary;
  RankLocalParameter local{.name = whole.name,
                           .rows = s.vocabulary,
                           .columns = whole.columns,
                           .borrowed = borrowed,
                           .frozen = whole.frozen,
                           .blocks = s.dense_blocks};
  local.matrices = stacked_matrix_sizes(whole, local, {s.optimizer, s.muon, s.tensor});
  return local;
}

std::vector<RankLocalParameter> localize(const std::vector<model::ModelParameter>& whole,
                                         const StepBuildSettings& s) {
  std::vector<RankLocalParameter> local;
  local.reserve(whole.size());
  for (const model::ModelParameter& parameter : whole) {
    if (parameter.trained) local.push_back(localize(parameter, s));
  }
  return local;
}

/// Number of storage-type elements with the same bytes as a parameter.
std::int64_t stored_elements(const StepBuildSettings& s, const RankLocalParameter& parameter) {
  if (!parameter.narrow) return parameter.padded_element_count_per_tensor_rank();
  return ceil_divide(bytes_of_elements(s.base, parameter.padded_element_count_per_tensor_rank()),
                     bytes_of_elements(s.storage, 1));
}

/// True if the sines and cosines of the rotary embedding are multiplied by a number other than 1.
bool scales_waves(const model::ModelArchitecture& model) {
  if (!model.rotary_scaling || model.position != model::PositionEncoding::kRope) return false;
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  if (scaling.kind != model::RotaryScalingKind::kYarn || scaling.factor <= 1) return false;
  return scaling.attention_factor > 0 ? scaling.attention_factor != 1
                                      : scaling.mscale != scaling.mscale_all_dim;
}

/// Makes a single data-parallel rank gather and reduce as several ranks do, if its framework does.
void set_single_rank_groups(StepBuildSettings& s, const plan::Plan& plan,
                            const plan::WordSet& apart) {
  if (plan.parallel.data > 1 || s.dense_blocks > 1) return;
  if (!apart[static_cast<std::size_t>(plan::UnfusedWork::kSingleRankGroups)]) return;
  s.gather_dense = s.gather_dense || plan.sharding.parameters != plan::StateShardingScope::kNone;
  s.reduce_dense = true;
}

/// True if a copy of FlashAttention's result in another order differs from the result and is kept:
/// a single sequence and packed documents have one order, gates copy the result themselves, and
/// narrow products keep a narrow copy.
bool keeps_two_results(const StepBuildSettings& s) {
  using enum cluster::AttentionKernel;
  const cluster::AttentionKernel kernel = s.kernels.attention;
  const bool flash = kernel == kFlash1 || kernel == kFlash2 || kernel == kFlash3;
  return flash && s.batch > 1 && s.documents.empty() && s.context == 1 &&
         !s.model->attention_gate && s.narrow_operand_layout_count == 0;
}

/// Sets the work that the framework runs by unfused kernels. Expert-by-expert kernels need each
/// expert's row count on the host, which a CUDA graph of a whole step cannot wait for; with such a
/// graph, Transformer Engine fuses the experts with their biases (NVIDIA/Megatron-LM pull request
/// 4636).
void set_apart(StepBuildSettings& s, const plan::Job& job, const plan::Plan& plan) {
  const bool biases = job.model.experts && job.model.experts->bias;
  const bool scales = scales_waves(job.model);
  // A batch of one sequence is gathered along its positions without a copy, and a compiler fuses
  // the copies.
  const bool compiled = s.kernels.fused_norm && s.kernels.fused_activation;
  const bool crosses = s.sequence_parallel && !s.overlap.tensor && s.batch > 1 && !compiled;
  const bool shares_experts = s.expert == 1 && s.expert_tensor > 1;
  const bool casts = s.kernels.masters == plan::MasterWeights::kAlone && s.dense_blocks == 1;
  const plan::WordSet& apart = plan::framework_defaults(job.framework).apart;
  if (apart.none()) return;
  s.wide_norms =
      !s.kernels.fused_norm && apart[static_cast<std::size_t>(plan::UnfusedWork::kWideNorms)];
  s.expands_heads = s.context == 1 && s.model->kv_heads < s.model->heads &&
                    apart[static_cast<std::size_t>(plan::UnfusedWork::kExpandedHeads)];
  s.exact_router =
      job.model.experts && apart[static_cast<std::size_t>(plan::UnfusedWork::kExactRouters)];
  set_single_rank_groups(s, plan, apart);
  s.expert_biases_apart = biases && !job.kernels.cuda_graphs.step &&
                          apart[static_cast<std::size_t>(plan::UnfusedWork::kExpertBiases)];
  s.scaled_rotary_apart =
      scales && apart[static_cast<std::size_t>(plan::UnfusedWork::kScaledRotary)];
  s.copies_gathers = apart[static_cast<std::size_t>(plan::UnfusedWork::kGatherOutputs)];
  s.loss_in_forward = apart[static_cast<std::size_t>(plan::UnfusedWork::kLossInForward)];
  s.head_beside_loss = apart[static_cast<std::size_t>(plan::UnfusedWork::kHeadBesideLoss)];
  s.blocks_for_step = s.reduces() && !s.gathers() &&
                      apart[static_cast<std::size_t>(plan::UnfusedWork::kBlocksForStep)];
  s.casts_for_step = casts && apart[static_cast<std::size_t>(plan::UnfusedWork::kCastsForStep)];
  if (shares_experts && apart[static_cast<std::size_t>(plan::UnfusedWork::kExpertRowGathers)]) {
    s.dispatcher = plan::TokenDispatcher::kAllGather;
  }
  s.copies_gradients = s.reduces() && !s.kernels.fused_accumulation &&
                       apart[static_cast<std::size_t>(plan::UnfusedWork::kReductionInputs)];
  // FSDP2 wraps experts over a group of one rank, too, and makes the same copies
  // (pytorch/pytorch 2.13 torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py; torchtitan
  // 0.3.0 torchtitan/distributed/fsdp.py, apply_fsdp_to_decoder: edp_mesh).
  if (job.model.experts && s.copies_gradients && s.copies_gathers) {
    s.gather_expert = s.gather_expert || s.gather_dense;
    s.reduce_expert = s.reduce_expert || s.reduce_dense;
  }
  s.copies_layouts =
      crosses && apart[static_cast<std::size_t>(plan::UnfusedWork::kPositionLayouts)];
  s.copies_attention_result =
      apart[static_cast<std::size_t>(plan::UnfusedWork::kAttentionLayouts)] && keeps_two_results(s);
  const bool fetches = apart[static_cast<std::size_t>(plan::UnfusedWork::kModuleFetches)];
  s.fetches_modules = fetches && s.gather_dense;
  s.fetches_experts = fetches && s.gather_expert && !s.kernels.grouped_experts;
}

}  // namespace

DType data_type_of_statistics(DType precision) {
  return plan::parameter_storage_type(precision) == DType::kFp64 ? DType::kFp64 : DType::kFp32;
}

StepBuildSettings make_setting(const plan::Job& job, const plan::Plan& plan,
                               RepresentativeMicroBatch size) {
  StepBuildSettings s;
  s.model = &job.model;
  s.batch = plan.micro_batch;
  s.length = job.documents ? padded_sequence_tokens(job, plan, size) : job.length;
  if (job.documents) s.documents = mean_masked_documents_by_length(job, plan, size);
  s.context = plan.parallel.context;
  s.tensor = plan.parallel.tensor;
  s.pipelined = plan.parallel.pipeline > 1;
  s.expert = plan.parallel.expert;
  s.expert_tensor = plan.parallel.expert_tensor;
  s.busiest = plan::busiest_expert_rank_load(job, s.expert);
  s.capacity_row_share = plan::expert_capacity_row_share(job);
  s.tokens = s.batch * (s.length / s.context);
  s.sequence_parallel = plan.sequence_parallel && s.tensor > 1;
  s.rows = s.sequence_parallel ? s.tokens / s.tensor : s.tokens;
  s.spread = plan::vocabulary_table_pipeline_ranks(plan);
  s.barriers = schedule::traits_of(plan.schedule.kind).barriers;
  const std::int64_t parts = s.tensor * s.spread;
  s.vocabulary = model::padded_vocabulary(job.model.vocabulary, parts) / parts;
  s.local_adapters = job.model.adapters && plan::framework_defaults(job.framework).local_adapters;
  s.keep_gathered = plan.tensor_input == plan::GatheredInputPolicy::kKeep;
  s.context_kind = plan.context_kind;
  s.storage = plan::parameter_storage_type(job.precision);
  s.matrix = job.precision;
  s.narrow_operand_layout_count = low_precision_operand_layout_count(job);
  s.base = job.model.adapters ? job.model.adapters->base : s.storage;
  s.gradient = plan.accumulate;
  s.exact = data_type_of_statistics(job.precision);
  s.kernels = job.kernels;
  s.optimizer = job.optimizer;
  s.muon = job.muon;
  s.dispatcher = job.dispatcher;
  s.overlap = plan::effective_overlap_flags(job, plan);
  s.offloaded = plan.offload.activations;
  s.policy_loss = plan::training_method_generates_sequences(job.method.kind);
  s.trains = job.method.updates > 0;
  const plan::Sharding sharding = plan::canonical_sharding(job, plan);
  const ShardingGroups dense = dense_spread(plan);
  const ShardingGroups routed = routed_spread(plan);
  if (sharding.optimizer != plan::StateShardingScope::kNone) {
    s.dense_blocks = dense.world;
    s.expert_blocks = routed.world;
  }
  // Parameters in host memory are fetched for each use, even by a single rank.
  const bool fetches = plan.offload.parameters;
  s.gather_dense = fetches || dense.state_shard_count(sharding.parameters) > 1;
  s.reduce_dense = fetches || dense.state_shard_count(sharding.gradients) > 1;
  if (job.model.experts) {
    s.gather_expert = fetches || routed.state_shard_count(sharding.parameters) > 1;
    s.reduce_expert = fetches || routed.state_shard_count(sharding.gradients) > 1;
  }
  set_apart(s, job, plan);
  return s;
}

std::vector<RankLocalParameter> local_layer_parameters(const StepBuildSettings& setting,
                                                       model::LayerClass layer) {
  return localize(model::layer_parameters(*setting.model, layer), setting);
}

namespace {

/// Removes all parameters except the tables: positions between the ends of the model hold only
/// parts of tables.
void keep_tables(std::vector<model::ModelParameter>& parameters) {
  std::erase_if(parameters, [](const model::ModelParameter& p) {
    return p.split != model::TensorParallelSplit::kVocabulary;
  });
}

}  // namespace

std::vector<RankLocalParameter> local_embedding_parameters(const StepBuildSettings& setting,
                                                           bool at_end) {
  std::vector<model::ModelParameter> parameters = model::embedding_parameters(*setting.model);
  std::ranges::copy(model::encoder_parameters(*setting.model), std::back_inserter(parameters));
  if (!at_end) keep_tables(parameters);
  return localize(parameters, setting);
}

std::vector<RankLocalParameter> local_head_parameters(const StepBuildSettings& setting,
                                                      bool own_table, bool at_end) {
  std::vector<model::ModelParameter> parameters = model::head_parameters(*setting.model);
  if (!at_end) keep_tables(parameters);
  std::vector<RankLocalParameter> local = localize(parameters, setting);
  if (setting.model->tied) {
    const bool frozen = setting.model->adapters || setting.model->frozen.embedding;
    const model::ModelParameter table{
        .name = "head.weight", .columns = setting.model->hidden, .frozen = frozen};
    local.push_back(shared_table(setting, table, !own_table));
  }
  return local;
}

std::vector<RankLocalParameter> local_multi_token_parameters(const StepBuildSettings& setting,
                                                             std::int64_t depth, bool own_table) {
  std::vector<RankLocalParameter> local =
      localize(model::multi_token_module_parameters(*setting.model), setting);
  const auto add = [&](const model::ModelParameter& table, bool borrowed) {
    local.push_back(shared_table(setting, table, borrowed));
  };
  const std::int64_t h = setting.model->hidden;
  if (!setting.model->tied) {
    add({.name = "embedding.word", .columns = h}, !own_table || depth > 0);
  }
  add({.name = "head.weight", .columns = h}, true);
  if (setting.model->head_bias) add({.name = "head.bias", .vector = true}, true);
  return local;
}

ModelBlockParameterCounts& ModelBlockParameterCounts::add(const ModelBlockParameterCounts& other,
                                                          std::int64_t count) {
  for (std::int64_t ModelBlockParameterCounts::* part :
       {&ModelBlockParameterCounts::dense, &ModelBlockParameterCounts::expert,
        &ModelBlockParameterCounts::borrowed, &ModelBlockParameterCounts::partial,
        &ModelBlockParameterCounts::expert_partial, &ModelBlockParameterCounts::frozen_dense,
        &ModelBlockParameterCounts::frozen_expert, &ModelBlockParameterCounts::frozen_borrowed,
        &ModelBlockParameterCounts::dense_tensors, &ModelBlockParameterCounts::expert_tensors,
        &ModelBlockParameterCounts::narrow_dense, &ModelBlockParameterCounts::narrow_expert}) {
    this->*part += count * other.*part;
  }
  if (!other.dense_matrices.empty() || !other.expert_matrices.empty()) {
    dense_matrices.add(other.dense_matrices, count);
    expert_matrices.add(other.expert_matrices, count);
  }
  largest_table = std::max(largest_table, other.largest_table);
  return *this;
}

ModelBlockParameterCounts unit_size(const StepBuildSettings& setting,
                                    const std::vector<RankLocalParameter>& parameters) {
  ModelBlockParameterCounts size;
  const bool acts_on_matrices =
      plan::traits_of(setting.optimizer).acts_on != plan::MatrixUpdateScope::kElements;
  for (const RankLocalParameter& p : parameters) {
    std::int64_t& trained = p.borrowed ? size.borrowed : p.expert ? size.expert : size.dense;
    std::int64_t& frozen = p.borrowed ? size.frozen_borrowed
                           : p.expert ? size.frozen_expert
                                      : size.frozen_dense;
    (p.frozen ? frozen : trained) += stored_elements(setting, p);
    if (setting.narrow_operand_layout_count > 0 && is_multiplied_in_low_precision(p)) {
      (p.expert ? size.narrow_expert : size.narrow_dense) += p.elements();
    }
    if (p.tensor_partial)
      (p.expert ? size.expert_partial : size.partial) += p.padded_element_count_per_tensor_rank();
    if (p.frozen || p.borrowed) continue;
    ++(p.expert ? size.expert_tensors : size.dense_tensors);
    (p.expert ? size.expert_matrices : size.dense_matrices).add(p.matrices, 1);
    const bool single = acts_on_matrices && !p.expert && p.matrices.count == 0;
    if (single)
      size.largest_table = std::max(size.largest_table, p.padded_element_count_per_tensor_rank());
  }
  return size;
}

model::LayerGradientFlow embedding_gradient_extent(const model::ModelArchitecture& model) {
  return model.trains_weights_before_layers() ? model::LayerGradientFlow::kEnds
                                              : model::LayerGradientFlow::kAbove;
}

model::LayerGradientFlow head_gradients(const model::ModelArchitecture& model) {
  const bool ends = model.layers > 0 && model.layer_class(model.layers - 1).gradients ==
                                            model::LayerGradientFlow::kAbove;
  return ends ? model::LayerGradientFlow::kEnds : model::LayerGradientFlow::kThrough;
}

TemplateTensor gathered_parameter_tensor(const StepBuildSettings& s,
                                         const ModelBlockParameterCounts& unit) {
  const std::int64_t elements =
      (s.gather_dense ? unit.dense + unit.borrowed + unit.frozen_dense + unit.frozen_borrowed : 0) +
      (s.gather_expert ? unit.expert + unit.frozen_expert : 0);
  return {.name = "parameters",
          .kind = TensorPurpose::kGathered,
          .dtype = s.storage,
          .extents = {elements, 1, 1}};
}

TemplateTensor block_gradient_tensor(const StepBuildSettings& s,
                                     const ModelBlockParameterCounts& unit) {
  const std::int64_t elements =
      (s.reduce_dense ? unit.dense + unit.borrowed : 0) + (s.reduce_expert ? unit.expert : 0);
  return {.name = "gradients",
          .kind = TensorPurpose::kGathered,
          .dtype = s.copies_gradients ? s.storage : s.gradient,
          .extents = {elements, 1, 1}};
}

}  // namespace stepwright::step
