#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// Sizes of one rank that the builders of blocks share: the plan applied to the model. Rows are
/// tokens of one micro-batch.
struct Setting {
  const model::Architecture* model = nullptr;
  std::int64_t batch = 1;   ///< Sequences of a micro-batch.
  std::int64_t length = 0;  ///< Tokens of a whole sequence.
  /// Documents that one sequence holds in the mean, each with a mask of its own; none: it is one.
  packing::LengthHistogram documents;
  std::int64_t context = 1;
  std::int64_t tensor = 1;
  bool pipelined = false;
  bool wide_norms = false;     ///< Weights of unfused norms multiply rows in fp32.
  bool expands_heads = false;  ///< Each head of queries has keys and values of its own.
  bool exact_router = false;   ///< Routers multiply a copy of rows in fp32.
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  double busiest = 1;           ///< Load of the busiest expert rank over the mean.
  double capacity_share = 1;    ///< Rows that experts work on over those that routers choose.
  std::int64_t tokens = 0;      ///< Rows on a context rank: batch * length / context.
  std::int64_t rows = 0;        ///< Rows of the residual stream: tokens, over tensor under SP.
  std::int64_t vocabulary = 0;  ///< Rows of the (padded) table on this rank.
  std::int64_t spread = 1;      ///< Pipeline positions of which each has a part of the tables.
  /// `ScheduleTraits::barriers` of a schedule that spreads the vocabulary.
  std::int64_t barriers = 0;
  bool sequence_parallel = false;
  bool local_adapters = false;  ///< True if an adapter's A multiplies this rank's own rows.
  bool keep_gathered = true;    ///< Column-parallel layers keep their gathered input.
  plan::ContextKind context_kind = plan::ContextKind::kRing;
  DType storage = DType::kBf16;  ///< Type of activations and messages.
  DType matrix = DType::kBf16;   ///< Type of matrix products.
  DType base = DType::kBf16;     ///< Type of frozen matrices that are stored narrow.
  /// Layouts in which narrow products hold their operands (`narrow_layouts`,
  /// step/narrow_operands.h); 0: they hold none.
  std::int64_t narrow_layouts = 0;
  DType gradient = DType::kFp32;  ///< Type of accumulated and reduced gradients.
  /// Type of statistics, losses and norms: fp32, or fp64 for proofs.
  DType exact = DType::kFp32;
  plan::Kernels kernels;
  plan::Optimizer optimizer = plan::Optimizer::kAdam;
  plan::MuonForm muon = plan::MuonForm::kDuplicated;
  plan::Dispatcher dispatcher = plan::Dispatcher::kAllToAll;
  plan::Overlap overlap;
  plan::OffloadModules offloaded;  ///< Modules whose activations lie on the host.
  std::int64_t dense_blocks = 1;   ///< Blocks into which data parallelism cuts states; 1: not cut.
  std::int64_t expert_blocks = 1;
  bool gather_dense = false;  ///< Dense parameters are split and gathered before each use.
  bool gather_expert = false;
  bool reduce_dense = false;  ///< Dense gradients leave each backward to be reduce-scattered.
  bool reduce_expert = false;
  bool expert_biases_apart = false;  ///< True if single kernels add them, as the framework does.
  bool scaled_rotary_apart = false;
  /// Gradients leave a backward in the type of storage, and reductions send a copy of them.
  bool copies_gradients = false;
  /// True if a forward copies parameters out of what a gather has made.
  bool copies_gathers = false;
  bool loss_in_forward = false;   ///< The result of the head's gather stays beside the loss.
  bool head_beside_loss = false;  ///< A gathered head stays until the loss has been taken.
  /// Parameters that are gathered for a whole step come block by block in its forward, frozen ones
  /// too, and go block by block in its backward.
  bool blocks_for_step = false;
  bool casts_for_step = false;  ///< Casts of parameters come and go so; they are in the optimizer.
  /// Gathered rows are copied into the order of positions, and rows to be reduced out of it.
  bool copies_layouts = false;
  bool fetches_experts = false;  ///< Parameters of each expert by calls of their own.
  bool policy_loss = false;      ///< The loss is that of a method that generates.
  bool trains = true;            ///< False: log-probabilities alone are asked for.

  [[nodiscard]] bool gathers() const { return gather_dense || gather_expert; }
  [[nodiscard]] bool reduces() const { return reduce_dense || reduce_expert; }
  [[nodiscard]] std::int64_t local_length() const { return length / context; }
  /// The kind of a norm: keys of an indexer have LayerNorm whatever the model's is.
  [[nodiscard]] model::Norm norm_of(LayerPart part) const {
    return part == LayerPart::kIndexNorm ? model::Norm::kLayer : model->norm;
  }
  [[nodiscard]] std::int64_t heads() const { return model->heads / tensor; }
  [[nodiscard]] std::int64_t kv_heads() const { return model->kv_heads / tensor; }
  [[nodiscard]] bool tensor_parallel() const { return tensor > 1; }
  /// True if the head's weight gradients wait until its position has done all backwards.
  [[nodiscard]] bool defers_head() const { return overlap.defer_embedding_gradient && spread == 1; }
};

/// Which part of the vocabulary a rank has.
inline std::int64_t vocabulary_part(const Setting& s, const plan::Coordinates& place) {
  return (s.spread > 1 ? place.pipeline * s.tensor : 0) + place.tensor;
}
/// True if a rank has only a part of the vocabulary.
inline bool shares_vocabulary(const Setting& s) { return s.tensor * s.spread > 1; }

Setting make_setting(const plan::Job& job, const plan::Plan& plan,
                     MicroBatchSize size = MicroBatchSize::kLargest);
/// `Setting::exact` of a job's precision.
DType exact_type(DType precision);

/// Whether the head's end of the model uses the table of the embedding, too: tied, or by
/// multi-token layers.
inline bool shares_table(const model::Architecture& model) {
  return model.tied || model.predicted_ahead() > 0;
}

/// Parameters of blocks as this rank holds them before data-parallel sharding.
std::vector<LocalParameter> local_layer_parameters(const Setting& setting, model::LayerClass layer);
/// `at_end`: at this end of the model, and not one of the positions between that have a part of its
/// table alone (`Setting::spread`).
std::vector<LocalParameter> local_embedding_parameters(const Setting& setting, bool at_end = true);
/// `own_table`: with tied tables, the embedding lives on another rank, so this one holds a copy;
/// else it borrows the embedding's. `at_end` as above.
std::vector<LocalParameter> local_head_parameters(const Setting& setting, bool own_table,
                                                  bool at_end = true);

/// Parameters of the multi-token layer `depth` (0-based), with the tables that it uses.
/// `own_table`: the first holds a copy of the embedding, which lives on another rank; the others
/// borrow.
std::vector<LocalParameter> local_multi_token_parameters(const Setting& setting, std::int64_t depth,
                                                         bool own_table);

/// Parameters of one block (layer, embedding, head) on one rank before data-parallel sharding.
/// Frozen ones count as elements of the type of storage, of a narrower type as many as take its
/// bytes.
struct UnitSize {
  std::int64_t dense = 0;  ///< Elements of trained dense parameters.
  std::int64_t expert = 0;
  std::int64_t borrowed = 0;  ///< Held by another block of the rank, gathered and reduced here too.
  /// The part of `dense` whose gradients are summed over the tensor ranks.
  std::int64_t partial = 0;
  /// The part of `expert` whose gradients are summed over the expert-tensor ranks.
  std::int64_t expert_partial = 0;
  std::int64_t frozen_dense = 0;
  std::int64_t frozen_expert = 0;
  std::int64_t frozen_borrowed = 0;
  MatrixSize dense_matrices;  ///< Matrices that stand in `dense`.
  MatrixSize expert_matrices;
  std::int64_t largest_table = 0;  ///< The largest of what `dense_matrices` leaves out of `dense`.
  /// Elements, trained or frozen, that products multiply in a type narrower than that of storage.
  std::int64_t narrow_dense = 0;
  std::int64_t narrow_expert = 0;
  std::int64_t dense_tensors = 0;  ///< How many `dense` are.
  std::int64_t expert_tensors = 0;

  [[nodiscard]] const MatrixSize& matrices(bool routed) const {
    return routed ? expert_matrices : dense_matrices;
  }
  /// Whether it has something to train that is its own.
  [[nodiscard]] bool trains() const { return dense + expert + borrowed > 0; }
  UnitSize& operator+=(const UnitSize& other) { return add(other, 1); }
  /// Adds so many blocks of a size.
  UnitSize& add(const UnitSize& other, std::int64_t count);
  auto operator<=>(const UnitSize&) const = default;
};
UnitSize unit_size(const Setting& setting, const std::vector<LocalParameter>& parameters);

/// How far the gradient of the loss goes through the ends of the model.
model::GradientPath embedding_gradients(const model::Architecture& model);
model::GradientPath head_gradients(const model::Architecture& model);

/// A block's parameters gathered for use, and its gradients on their way to a reduction.
Tensor gathered_tensor(const Setting& setting, const UnitSize& unit);
Tensor gradient_tensor(const Setting& setting, const UnitSize& unit);

}  // namespace stepwright::step
