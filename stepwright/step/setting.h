#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// Sizes and choices of one rank, which result from applying the plan to the model; all functions
/// that build a step's operators read them. "Rows" are tokens of one micro-batch.
struct StepBuildSettings {
  const model::ModelArchitecture* model = nullptr;
  std::int64_t batch = 1;   ///< Number of sequences in a micro-batch.
  std::int64_t length = 0;  ///< Tokens of a whole sequence, over all context-parallel ranks.
  /// Mean number of documents of each length in one sequence, if attention masks separate
  /// documents; empty: the sequence is one document.
  packing::LengthHistogram documents;
  std::int64_t context = 1;
  std::int64_t tensor = 1;
  bool pipelined = false;
  /// True if the weights of unfused norms multiply rows in fp32, so that an fp32 copy of the rows
  /// is kept.
  bool wide_norms = false;
  /// True if grouped-query attention copies keys and values for each query head.
  bool expands_heads = false;
  bool exact_router = false;  ///< True if routers of experts multiply a copy of the rows in fp32.
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  double busiest = 1;  ///< Load of the busiest expert-parallel rank over the mean load.
  /// Rows that experts compute, divided by the rows that routers send them: below 1 if an expert
  /// capacity drops some, above 1 if it pads.
  double capacity_row_share = 1;
  /// Number of tokens of a micro-batch on one context-parallel rank: batch * length / context.
  std::int64_t tokens = 0;
  /// Number of tokens of a micro-batch in the residual stream of one rank: `tokens`, divided by
  /// `tensor` under sequence parallelism.
  std::int64_t rows = 0;
  /// Number of vocabulary entries on this rank, padding included: rows of its part of the embedding
  /// table.
  std::int64_t vocabulary = 0;
  /// Number of pipeline stages over which the vocabulary tables are split; 1: not split.
  std::int64_t spread = 1;
  /// Number of times that all pipeline stages wait for each other between a micro-batch's last
  /// forward and first backward, if they split the vocabulary; 0: they do not split it, or run the
  /// vocabulary's work at the same time.
  std::int64_t barriers = 0;
  bool sequence_parallel = false;
  /// True if a LoRA adapter's A multiplies only this rank's shard of the sequence.
  bool local_adapters = false;
  /// True if column-parallel products keep their gathered input for the backward; false: the
  /// backward gathers it again.
  bool keep_gathered = true;
  plan::ContextKind context_kind = plan::ContextKind::kRing;
  DType storage = DType::kBf16;  ///< Data type of activations and of messages that carry them.
  DType matrix = DType::kBf16;   ///< Data type in which matrix products multiply (bf16, fp8, ...).
  /// Narrow data type in which frozen matrices under LoRA adapters are stored (QLoRA).
  DType base = DType::kBf16;
  /// Number of layouts in which narrow (fp8) products store their operands: 1 or 2; 0: they store
  /// none (`step/narrow_operands.h`).
  std::int64_t narrow_operand_layout_count = 0;
  DType gradient = DType::kFp32;  ///< Data type in which gradients are accumulated and reduced.
  /// Data type of statistics, losses and norms: fp32, or fp64 if the whole job is in fp64.
  DType exact = DType::kFp32;
  plan::FrameworkKernels kernels;
  plan::Optimizer optimizer = plan::Optimizer::kAdam;
  plan::MuonTensorSplit muon = plan::MuonTensorSplit::kDuplicated;
  plan::TokenDispatcher dispatcher = plan::TokenDispatcher::kAllToAll;
  plan::OverlapFlags overlap;
  /// Modules whose activations are moved to host memory until the backward.
  plan::OffloadModuleSet offloaded;
  /// Number of shards into which data parallelism splits the optimizer states of dense parameters;
  /// 1: not split.
  std::int64_t dense_blocks = 1;
  std::int64_t expert_blocks = 1;
  /// True if dense parameters are sharded, or stored in host memory, and gathered or fetched before
  /// each use.
  bool gather_dense = false;
  bool gather_expert = false;
  /// True if dense gradients are reduce-scattered (or moved to host memory) after each backward.
  bool reduce_dense = false;
  bool reduce_expert = false;
  /// True if unfused kernels add the biases of experts to their rows, one expert after the other.
  bool expert_biases_apart = false;
  bool scaled_rotary_apart = false;
  /// True if a backward leaves gradients in the type of activations, and data-parallel reductions
  /// send a copy of them.
  bool copies_gradients = false;
  /// True if a forward copies parameters out of the buffer into which they were gathered (FSDP2).
  bool copies_gathers = false;
  /// True if the loss is computed inside the model's forward, so that the head's gathered buffer
  /// stays in memory until then.
  bool loss_in_forward = false;
  /// True if the head's gathered parameters stay in memory until the loss has been computed.
  bool head_beside_loss = false;
  /// True if parameters that stay gathered for a whole step, and frozen ones, are gathered block by
  /// block in the step's forward and freed block by block in its backward.
  bool blocks_for_step = false;
  /// True if parameters are cast to a narrower type in each forward and the casts freed in its
  /// backward (torch.autocast); the stored parameters themselves are the optimizer's fp32 ones.
  bool casts_for_step = false;
  /// True if rows gathered over tensor ranks are copied into the order of sequence positions, and
  /// rows to be reduced are copied out of that order.
  bool copies_layouts = false;
  /// True if attention's result is copied into the order of sequence positions for the output
  /// projection, and both the result and the copy are kept for the backward.
  bool copies_attention_result = false;
  /// True if the sharded parameters of each module outside of experts are fetched by separate calls
  /// of the host.
  bool fetches_modules = false;
  /// True if the sharded parameters of each module of each expert are fetched by separate calls of
  /// the host.
  bool fetches_experts = false;
  /// True if the loss is the policy loss of a reinforcement-learning method, which generates its
  /// data.
  bool policy_loss = false;
  /// True if the model is trained; false: only log-probabilities are computed.
  bool trains = true;

  [[nodiscard]] bool gathers() const { return gather_dense || gather_expert; }
  [[nodiscard]] bool reduces() const { return reduce_dense || reduce_expert; }
  [[nodiscard]] std::int64_t local_length() const { return length / context; }
  /// Returns the kind of norm (LayerNorm, RMSNorm) that a part of a layer uses: LayerNorm for the
  /// keys of an attention indexer, else the model's.
  [[nodiscard]] model::Norm norm_kind_of_part(LayerPart part) const {
    return part == LayerPart::kIndexNorm ? model::Norm::kLayer : model->norm;
  }
  [[nodiscard]] std::int64_t heads() const { return model->heads / tensor; }
  /// Key-value heads whose attention this rank computes; tensor ranks that outnumber them share
  /// one.
  [[nodiscard]] std::int64_t kv_heads() const {
    return std::max<std::int64_t>(1, model->kv_heads / tensor);
  }
  /// True if tensor ranks gather the projection of queries, keys and values, because they outnumber
  /// the key-value heads.
  [[nodiscard]] bool gathers_heads() const { return !model->latent && tensor > model->kv_heads; }
  [[nodiscard]] bool tensor_parallel() const { return tensor > 1; }
  /// True if the head's weight gradients are deferred until its pipeline stage has done all
  /// backwards.
  [[nodiscard]] bool defers_head_weight_gradients() const {
    return overlap.defer_embedding_gradient && spread == 1;
  }
};

/// Returns the index of the part of the vocabulary that a rank holds. `place`: coordinates of the
/// rank in the plan's grid.
inline std::int64_t vocabulary_shard_index(const StepBuildSettings& s,
                                           const plan::RankCoordinates& place) {
  return (s.spread > 1 ? place.pipeline * s.tensor : 0) + place.tensor;
}
/// True if each rank has only a part of the vocabulary, because tensor ranks or pipeline stages
/// split it.
inline bool splits_vocabulary(const StepBuildSettings& s) { return s.tensor * s.spread > 1; }

StepBuildSettings make_setting(const plan::Job& job, const plan::Plan& plan,
                               RepresentativeMicroBatch size = RepresentativeMicroBatch::kLargest);
/// Returns the type of statistics, losses and norms for a job's precision: fp64 if activations are
/// fp64, else fp32.
DType data_type_of_statistics(DType precision);

/// True if the last pipeline stage also uses the embedding's table: tied tables, or multi-token
/// prediction.
inline bool shares_embedding_table(const model::ModelArchitecture& model) {
  return model.tied || model.extra_predicted_tokens() > 0;
}

/// Returns the parameters of a layer as this rank holds them: split by tensor and expert
/// parallelism, before data-parallel sharding.
std::vector<RankLocalParameter> local_layer_parameters(const StepBuildSettings& setting,
                                                       model::LayerClass layer);
/// Returns the parameters of the embedding on this rank. `at_end`: its pipeline stage is the first
/// of the model; false: a stage that holds only a part of the vocabulary table.
std::vector<RankLocalParameter> local_embedding_parameters(const StepBuildSettings& setting,
                                                           bool at_end = true);
/// Returns the parameters of the head on this rank. `own_table`: with tied tables, this rank holds
/// its own copy because the embedding is on another rank; false: it borrows the embedding's.
/// `at_end`: its pipeline stage is the last of the model; false: a stage that holds only a part of
/// the vocabulary table.
std::vector<RankLocalParameter> local_head_parameters(const StepBuildSettings& setting,
                                                      bool own_table, bool at_end = true);

/// Returns the parameters of the multi-token prediction layer `depth` (0-based), with the embedding
/// and head tables that it uses. `own_table`: the first such layer holds a copy of the embedding,
/// which is on another rank, and the others borrow that copy; false: all borrow.
std::vector<RankLocalParameter> local_multi_token_parameters(const StepBuildSettings& setting,
                                                             std::int64_t depth, bool own_table);

/// Number of parameter elements of one block (layer, embedding, head) on one rank before
/// data-parallel sharding, by kind. Frozen parameters in a narrower type than activations count as
/// the number of elements in the type of activations with the same bytes.
struct ModelBlockParameterCounts {
  std::int64_t dense = 0;  ///< Number of elements of trained dense parameters (not of experts).
  std::int64_t expert = 0;
  /// Number of elements of tables that another block of the rank holds, but that are gathered and
  /// reduced with this block too (tied weights).
  std::int64_t borrowed = 0;
  /// Number of elements, included in `dense`, whose gradients the tensor ranks sum.
  std::int64_t partial = 0;
  /// Number of elements, included in `expert`, whose gradients the expert-tensor ranks sum.
  std::int64_t expert_partial = 0;
  std::int64_t frozen_dense = 0;
  std::int64_t frozen_expert = 0;
  std::int64_t frozen_borrowed = 0;
  /// Sizes of the matrices among the trained dense parameters that the optimizer updates as
  /// matrices (Muon, Adafactor).
  OptimizerMatrixSizes dense_matrices;
  OptimizerMatrixSizes expert_matrices;
  /// Number of elements of the largest trained dense parameter that an optimizer of matrices (Muon,
  /// Adafactor) does not update as a matrix; 0 for element-wise optimizers.
  std::int64_t largest_table = 0;
  /// Number of elements of dense matrices, trained or frozen, that products multiply in a type
  /// narrower than that of activations (fp8).
  std::int64_t narrow_dense = 0;
  std::int64_t narrow_expert = 0;
  std::int64_t dense_tensors = 0;  ///< Number of trained dense parameter tensors.
  std::int64_t expert_tensors = 0;

  [[nodiscard]] const OptimizerMatrixSizes& matrices(bool routed) const {
    return routed ? expert_matrices : dense_matrices;
  }
  /// True if the block has trained parameters.
  [[nodiscard]] bool has_trained_parameters() const { return dense + expert + borrowed > 0; }
  ModelBlockParameterCounts& operator+=(const ModelBlockParameterCounts& other) {
    return add(other, 1);
  }
  /// Adds `count` times the parameter counts `other` (those of one block) to this one, and returns
  /// it.
  ModelBlockParameterCounts& add(const ModelBlockParameterCounts& other, std::int64_t count);
  auto operator<=>(const ModelBlockParameterCounts&) const = default;
};
ModelBlockParameterCounts unit_size(const StepBuildSettings& setting,
                                    const std::vector<RankLocalParameter>& parameters);

/// Returns how far the gradient of the loss must go through the embedding, given frozen weights.
model::LayerGradientFlow embedding_gradient_extent(const model::ModelArchitecture& model);
/// Returns how far the gradient of the loss must go through the head, given frozen weights.
model::LayerGradientFlow head_gradients(const model::ModelArchitecture& model);

/// Returns the tensor into which a block's sharded parameters are gathered; a tensor without
/// elements if the rank holds the parameters whole.
TemplateTensor gathered_parameter_tensor(const StepBuildSettings& setting,
                                         const ModelBlockParameterCounts& unit);
/// Returns the tensor of a block's gradients before their data-parallel reduction.
TemplateTensor block_gradient_tensor(const StepBuildSettings& setting,
                                     const ModelBlockParameterCounts& unit);

}  // namespace stepwright::step
