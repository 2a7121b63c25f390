#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// Sizes and choices of one rank that the builders of blocks share: the plan applied to the model.
/// "Rows" are tokens of one micro-batch.
struct Setting {
  const model::Architecture* model = nullptr;
  std::int64_t batch = 1;   ///< Number of sequences in a micro-batch.
  std::int64_t length = 0;  ///< Tokens of a whole sequence.
  /// Mean documents of one sequence, each with a mask of its own; empty: the sequence is one
  /// document.
  packing::LengthHistogram documents;
  std::int64_t context = 1;
  std::int64_t tensor = 1;
  bool pipelined = false;
  bool wide_norms = false;     ///< True if the weights of unfused norms multiply rows in fp32.
  bool expands_heads = false;  ///< True if keys and values are copied for each query head.
  bool exact_router = false;   ///< True if routers multiply a copy of the rows in fp32.
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  double busiest = 1;  ///< Load of the busiest expert rank over the mean load.
  /// Rows that experts compute over rows that routers assign (below 1: capacity drops some).
  double capacity_share = 1;
  std::int64_t tokens = 0;  ///< Tokens on a context rank: batch * length / context.
  /// Rows of the residual stream: `tokens`, divided by `tensor` under sequence parallelism.
  std::int64_t rows = 0;
  std::int64_t vocabulary = 0;  ///< Rows of the (padded) vocabulary table on this rank.
  /// Number of pipeline positions over which the vocabulary tables are split; 1: not split.
  std::int64_t spread = 1;
  /// `ScheduleTraits::barriers` of a schedule that splits the vocabulary over positions.
  std::int64_t barriers = 0;
  bool sequence_parallel = false;
  /// True if an adapter's A multiplies only this rank's shard of the sequence.
  bool local_adapters = false;
  /// True if column-parallel layers keep their gathered input; false: the backward gathers it
  /// again.
  bool keep_gathered = true;
  plan::ContextKind context_kind = plan::ContextKind::kRing;
  DType storage = DType::kBf16;  ///< Type of activations and messages.
  DType matrix = DType::kBf16;   ///< Type of matrix products.
  DType base = DType::kBf16;  ///< Narrow type in which frozen matrices under adapters are stored.
  /// Layouts in which narrow products store their operands (`narrow_layouts`,
  /// step/narrow_operands.h); 0: they store none.
  std::int64_t narrow_layouts = 0;
  DType gradient = DType::kFp32;  ///< Type of accumulated and reduced gradients.
  /// Type of statistics, losses and norms: fp32, or fp64 for proofs.
  DType exact = DType::kFp32;
  plan::Kernels kernels;
  plan::Optimizer optimizer = plan::Optimizer::kAdam;
  plan::MuonForm muon = plan::MuonForm::kDuplicated;
  plan::Dispatcher dispatcher = plan::Dispatcher::kAllToAll;
  plan::Overlap overlap;
  plan::OffloadModules offloaded;  ///< Modules whose kept activations are moved to host memory.
  /// Shards into which data parallelism splits states of dense parameters; 1: not split.
  std::int64_t dense_blocks = 1;
  std::int64_t expert_blocks = 1;
  /// True if dense parameters are sharded and gathered before each use.
  bool gather_dense = false;
  bool gather_expert = false;
  bool reduce_dense = false;  ///< True if dense gradients are reduce-scattered after each backward.
  bool reduce_expert = false;
  /// True if unfused kernels add the experts' biases, expert by expert.
  bool expert_biases_apart = false;
  bool scaled_rotary_apart = false;
  /// True if gradients leave a backward in the type of storage, and reductions send a copy of them.
  bool copies_gradients = false;
  /// True if a forward copies parameters out of the buffer that a gather has filled.
  bool copies_gathers = false;
  /// True if the head's gathered buffer stays in memory while the loss is computed.
  bool loss_in_forward = false;
  /// True if the head's gathered parameters stay in memory until the loss has been computed.
  bool head_beside_loss = false;
  /// True if parameters that stay gathered for a whole step, and frozen ones, are gathered block by
  /// block in the step's forward and freed block by block in its backward.
  bool blocks_for_step = false;
  /// True if parameters are cast in each forward and the casts freed in its backward; the
  /// parameters themselves are the optimizer's.
  bool casts_for_step = false;
  /// True if gathered rows are copied into the order of sequence positions, and rows to be reduced
  /// out of that order.
  bool copies_layouts = false;
  /// True if each expert's parameters are fetched by a call of their own.
  bool fetches_experts = false;
  /// True if the loss is a policy loss (a training method that generates).
  bool policy_loss = false;
  /// True if the model is trained; false: only log-probabilities are computed.
  bool trains = true;

  [[nodiscard]] bool gathers() const { return gather_dense || gather_expert; }
  [[nodiscard]] bool reduces() const { return reduce_dense || reduce_expert; }
  [[nodiscard]] std::int64_t local_length() const { return length / context; }
  /// The kind of norm of a part: LayerNorm for the keys of an indexer, else the model's.
  [[nodiscard]] model::Norm norm_of(LayerPart part) const {
    return part == LayerPart::kIndexNorm ? model::Norm::kLayer : model->norm;
  }
  [[nodiscard]] std::int64_t heads() const { return model->heads / tensor; }
  [[nodiscard]] std::int64_t kv_heads() const { return model->kv_heads / tensor; }
  [[nodiscard]] bool tensor_parallel() const { return tensor > 1; }
  /// True if the head's weight gradients are deferred until its position has done all backwards.
  [[nodiscard]] bool defers_head() const { return overlap.defer_embedding_gradient && spread == 1; }
};

/// Index of the part of the vocabulary that the rank at `place` holds.
inline std::int64_t vocabulary_part(const Setting& s, const plan::Coordinates& place) {
  return (s.spread > 1 ? place.pipeline * s.tensor : 0) + place.tensor;
}
/// True if a rank has only a part of the vocabulary.
inline bool shares_vocabulary(const Setting& s) { return s.tensor * s.spread > 1; }

Setting make_setting(const plan::Job& job, const plan::Plan& plan,
                     MicroBatchSize size = MicroBatchSize::kLargest);
/// The type of statistics (`Setting::exact`) for a job's precision.
DType exact_type(DType precision);

/// True if the last position also uses the embedding's table: tied tables, or multi-token layers.
inline bool shares_table(const model::Architecture& model) {
  return model.tied || model.predicted_ahead() > 0;
}

/// Parameters of blocks as this rank holds them before data-parallel sharding.
std::vector<LocalParameter> local_layer_parameters(const Setting& setting, model::LayerClass layer);
/// Parameters of the embedding on this rank. `at_end`: the position is the first of the model;
/// false: a position in between that holds only a part of the table (`Setting::spread`).
std::vector<LocalParameter> local_embedding_parameters(const Setting& setting, bool at_end = true);
/// Parameters of the head on this rank. `own_table`: with tied tables, this rank holds its own copy
/// because the embedding is on another rank; false: it borrows the embedding's. `at_end`: the
/// position is the last of the model; false: it holds only a part of the table.
std::vector<LocalParameter> local_head_parameters(const Setting& setting, bool own_table,
                                                  bool at_end = true);

/// Parameters of the multi-token layer `depth` (0-based), with the tables that it uses.
/// `own_table`: the first multi-token layer holds a copy of the embedding, which is on another
/// rank, and the others borrow that copy; false: all borrow.
std::vector<LocalParameter> local_multi_token_parameters(const Setting& setting, std::int64_t depth,
                                                         bool own_table);

/// Sizes of the parameters of one block (layer, embedding, head) on one rank before data-parallel
/// sharding. Frozen parameters in a narrower type than storage count as the number of storage-type
/// elements with the same bytes.
struct UnitSize {
  std::int64_t dense = 0;  ///< Elements of trained dense parameters.
  std::int64_t expert = 0;
  /// Elements that another block of the rank holds, gathered and reduced with this block too.
  std::int64_t borrowed = 0;
  /// The part of `dense` whose gradients are summed over the tensor ranks.
  std::int64_t partial = 0;
  /// The part of `expert` whose gradients are summed over the expert-tensor ranks.
  std::int64_t expert_partial = 0;
  std::int64_t frozen_dense = 0;
  std::int64_t frozen_expert = 0;
  std::int64_t frozen_borrowed = 0;
  MatrixSize dense_matrices;  ///< Matrices among the parameters of `dense`.
  MatrixSize expert_matrices;
  /// Elements of the largest parameter of `dense` that is not in `dense_matrices`.
  std::int64_t largest_table = 0;
  /// Elements, trained or frozen, that products multiply in a type narrower than the type of
  /// storage.
  std::int64_t narrow_dense = 0;
  std::int64_t narrow_expert = 0;
  std::int64_t dense_tensors = 0;  ///< Number of parameter tensors in `dense`.
  std::int64_t expert_tensors = 0;

  [[nodiscard]] const MatrixSize& matrices(bool routed) const {
    return routed ? expert_matrices : dense_matrices;
  }
  /// True if the block has trained parameters.
  [[nodiscard]] bool trains() const { return dense + expert + borrowed > 0; }
  UnitSize& operator+=(const UnitSize& other) { return add(other, 1); }
  /// Adds `count` blocks of the size `other`.
  UnitSize& add(const UnitSize& other, std::int64_t count);
  auto operator<=>(const UnitSize&) const = default;
};
UnitSize unit_size(const Setting& setting, const std::vector<LocalParameter>& parameters);

/// How far the gradient of the loss must go through the embedding and through the head.
model::GradientPath embedding_gradients(const model::Architecture& model);
model::GradientPath head_gradients(const model::Architecture& model);

/// The tensor of a block's gathered parameters, and of its gradients before their reduction; no
/// elements if the rank holds them whole.
Tensor gathered_tensor(const Setting& setting, const UnitSize& unit);
Tensor gradient_tensor(const Setting& setting, const UnitSize& unit);

}  // namespace stepwright::step
