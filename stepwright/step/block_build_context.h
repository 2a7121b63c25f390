#pragma once

#include <string_view>

#include "stepwright/step/rematerialisation.h"
#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Context of the functions that append a block's operators: the template being built, the sizes,
/// and the tensors kept for the backward. A forward builder fills `kept`, a backward builder reads
/// it.
struct ModelBlockBuildContext {
  OperatorTemplateBuilder& out;
  const StepBuildSettings& s;
  KeptTensors& kept;
  /// Phase with which operators of the forward are marked; kRecompute if a backward runs them
  /// again.
  Phase forward = Phase::kForward;
  /// Tensor of the block's gathered parameters; -1: parameters are not sharded.
  TensorId parameters = -1;
  /// Tensor of the block's gradients, which a data-parallel reduction reads; -1: gradients stay on
  /// the rank.
  TensorId gradients = -1;
  IndexRange rows{};  ///< Range of tokens of the loss chunk that is being built; empty: all tokens.
  /// True if gate and up projection, the two halves of a gated MLP's first product, are separate
  /// matrix products.
  bool splits_gate = false;
  /// Receives, in a forward, the last tensor and operator of each module that can be recomputed;
  /// null: not recorded.
  ModuleEnds* ends = nullptr;
  /// Recomputes, in a backward, the tensors that the forward did not keep; null: nothing is
  /// recomputed.
  Rematerialisation* rematerialisation = nullptr;
  /// Receives, in a forward, the tensors of which `kept` holds only narrow (fp8) copies; null: not
  /// recorded.
  KeptTensors* originals = nullptr;
};

/// Records, for recomputation, that the forward of a module ends with the tensor `result`.
void record_module_end_tensor(ModelBlockBuildContext& e, plan::RecomputeModule module,
                              TensorId result);

/// Returns the tensor that the forward kept for its backward under the name `role`; in a backward,
/// first recomputes it if it was not kept. -1 if the forward has no such tensor.
TensorId tensor_kept_by_forward(ModelBlockBuildContext& e, KeptTensorRole role);

/// Returns a computation operator of a layer part with the sizes `shape`, in the type of
/// activations.
Operator computation(const ModelBlockBuildContext& e, OperatorKind kind, Phase phase,
                     LayerPart part, const OperatorShape& shape);

/// Sizes and names of a matrix product: [rows, inner] x [inner, columns].
struct MatrixProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  /// Part of the layer that the product computes, which also names the product's weight.
  LayerPart part{};
  /// Number of experts whose matrices share the rows (a grouped product); 0: one plain product.
  std::int64_t groups = 0;
  /// True if the product runs in the type of activations even if other products run in fp8 or less:
  /// head and router, which fp8 recipes leave alone (Transformer Engine, Megatron-LM).
  bool wide = false;
  /// True if the product runs in the type of statistics and losses (fp32), whatever that of
  /// activations.
  bool exact = false;
  /// Tensor with the row count of each expert of a grouped product; -1: a plain product.
  TensorId counts = -1;
  /// Number of equal products, split by columns, that this one stands for (gate and up: 2). Their
  /// gradients of the common input are added up; where rows are not split over tensor ranks, each
  /// of these gradients is reduced separately.
  std::int64_t parts = 1;
};

/// Sizes of a matrix of activations, [rows, columns].
struct ActivationMatrixSize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// True if `rows` is a mean over expert-parallel ranks, which receive different numbers of rows.
  bool routed = false;
};

/// Creates an activation tensor [rows, columns] in the template, in the data type `type`.
TensorId create_activation_tensor(ModelBlockBuildContext& e, std::string_view name, DType type,
                                  std::int64_t rows, std::int64_t columns);
TensorId create_activation_tensor(ModelBlockBuildContext& e, std::string_view name,
                                  std::int64_t rows, std::int64_t columns);
/// Creates, in the template, a tensor [rows, columns] that a message fills.
TensorId create_message_buffer(ModelBlockBuildContext& e, std::string_view name, std::int64_t rows,
                               std::int64_t columns);

/// Returns the operator of a matrix product in a phase (forward or a gradient).
Operator matrix_product_operator(const ModelBlockBuildContext& e, Phase phase,
                                 const MatrixProduct& p);
/// Creates, in the template, the tensor of a matrix product's result.
TensorId create_matrix_product_result(ModelBlockBuildContext& e, std::string_view name,
                                      const MatrixProduct& p, std::int64_t columns);

/// Appends a matrix product, without its LoRA adapter, and returns its output [rows, columns].
TensorId append_matrix_product(ModelBlockBuildContext& e, TensorId x, const MatrixProduct& p);
/// Appends a matrix product and returns its output. Keeps for the weight gradient, under the name
/// `role`, either `own` (this rank's shard of the input) or a narrow (fp8) copy of it.
TensorId append_matrix_product_keeping_input(ModelBlockBuildContext& e, TensorId x,
                                             const MatrixProduct& p, KeptTensorRole role,
                                             TensorId own);
/// True if a product in fp8 or a narrower type keeps a narrow copy of its input for the weight
/// gradient: its weight is trained, and no other operator keeps the input. Megatron-Core asks for
/// no copies for two products whose input is kept for other operators anyway, if scales need no
/// history (NVIDIA/Megatron-LM core 0.16 megatron/core/transformer/attention.py and
/// moe/shared_experts.py, set_save_original_input); fp8 is taken as Megatron's default,
/// `--fp8-recipe delayed`, whose scales have a history.
bool keeps_low_precision_input_copy(const ModelBlockBuildContext& e, const MatrixProduct& p);
/// Appends the gradient [rows, inner] of a product's input and returns its tensor. `held`: a tensor
/// that stays in memory until this operator has run (-1: none); `into`: the tensor of which the
/// gradient fills some rows (-1: a new tensor).
TensorId append_matrix_product_data_gradient(ModelBlockBuildContext& e, TensorId dy,
                                             const MatrixProduct& p, TensorId held = -1,
                                             TensorId into = -1);
/// Appends a product's weight gradient, which is added to the accumulated gradient; appends nothing
/// if the weight is frozen.
void append_matrix_product_weight_gradient(ModelBlockBuildContext& e, TensorId dy, TensorId x,
                                           const MatrixProduct& p);
/// Appends the weight gradient computed by the operator `op` from `dy` and `x`, which is added to
/// the accumulated gradient. `counts`: row counts of experts; -1: none.
void append_weight_gradient_operator(ModelBlockBuildContext& e, const Operator& op, TensorId dy,
                                     TensorId x, TensorId counts);

/// True if a parameter of the block that is being built is trained, not frozen.
bool is_block_parameter_trained(const ModelBlockBuildContext& e, ParameterId parameter);
/// Returns the tensor that receives the gradient of a parameter; -1 if the parameter is frozen.
TensorId parameter_gradient_tensor(const ModelBlockBuildContext& e, ParameterId parameter);

/// Appends a matrix product with its LoRA adapter, if it has one, and returns their sum; keeps the
/// product's input under the name `input`.
TensorId append_matrix_product_with_lora(ModelBlockBuildContext& e, TensorId x,
                                         const MatrixProduct& p, KeptTensorRole input);
/// Appends the backward of a matrix product and its LoRA adapter: the gradients of trained weights,
/// and the gradient of the input, which it returns. `input`: the name under which the forward kept
/// the product's input.
TensorId append_matrix_product_backward(ModelBlockBuildContext& e, TensorId dy,
                                        KeptTensorRole input, const MatrixProduct& p);

/// Returns the size of what an unfused norm keeps, as a multiple of its input's size in the type of
/// activations: the input in fp32, and the normed rows before the weight multiplies them, which
/// only the weight's gradient needs (huggingface/transformers models/llama/modeling_llama.py,
/// LlamaRMSNorm).
std::int64_t kept_bytes_factor_of_unfused_norm(const StepBuildSettings& setting, bool trained);

/// Names of a norm's layer part and of the tensors that it keeps: its input and its statistics. An
/// unfused norm is a series of elementary operators on an fp32 copy, which its backward reads
/// instead of the input.
struct NormTensorNames {
  KeptTensorRole input{};
  KeptTensorRole statistics{};
  LayerPart part{};
  KeptTensorRole copies{};  ///< Name under which an unfused norm keeps its fp32 copies.
  /// Number of parts of a row that are normed separately (heads, for example).
  std::int64_t parts = 1;
};
TensorId norm(ModelBlockBuildContext& e, TensorId x, const ActivationMatrixSize& sheet,
              const NormTensorNames& role);
/// Appends a norm's backward, with the gradient of the norm's weight. Returns the gradient of the
/// norm's input, plus `residual` if it is not -1.
TensorId append_norm_backward(ModelBlockBuildContext& e, TensorId dy,
                              const ActivationMatrixSize& sheet, const NormTensorNames& role,
                              TensorId residual = -1);

/// Sizes and labels of the message with which rows enter or leave a tensor-parallel region.
struct TensorParallelRegionCrossing {
  std::int64_t columns = 0;
  LayerPart part{};
  Phase phase{};
  bool of_columns = false;  ///< True for a message in the backward of a column-parallel product.
};

/// Appends the entry of the rows `x` into a tensor-parallel region and returns the rows there: an
/// all-gather under sequence parallelism, otherwise nothing.
TensorId enter_tensor_parallel_region(ModelBlockBuildContext& e, TensorId x,
                                      const TensorParallelRegionCrossing& crossing);
/// Appends the exit of rows from a tensor-parallel region and returns their sums: a reduce-scatter
/// under sequence parallelism, otherwise an all-reduce. The backward of an entry is an exit, and
/// the backward of an exit is an entry.
TensorId exit_tensor_parallel_region(ModelBlockBuildContext& e, TensorId partial,
                                     const TensorParallelRegionCrossing& crossing);

/// Appends an in-place all-reduce of a tensor over the tensor ranks, the context ranks or the
/// pipeline stages, as `scheme` says, in the tensor's own type.
void append_all_reduce(ModelBlockBuildContext& e, ParallelismScheme scheme, TensorId tensor,
                       Phase phase, LayerPart part);

/// Starts a pass over the vocabulary: operators appended from here on belong to it. No effect if
/// all pipeline stages run the vocabulary's work at the same time.
void begin_vocabulary_pass(ModelBlockBuildContext& e, schedule::Direction pass);

/// Appends a broadcast of the residual stream's rows from the first or last pipeline stage to all
/// others, and returns the rows. `rows`: -1 on a stage that receives them.
TensorId broadcast_residual_rows(ModelBlockBuildContext& e, TensorId rows, Phase phase,
                                 LayerPart part);

/// Appends a column-parallel product and, before it, the gather of its input under sequence
/// parallelism. Keeps, under the name `input`, what the weight gradient needs: the gathered input,
/// or the sharded one, which the backward gathers again.
TensorId append_column_parallel_product(ModelBlockBuildContext& e, TensorId x, KeptTensorRole input,
                                        const MatrixProduct& p);
/// Appends the backward of a column-parallel product and returns the gradient of its input, reduced
/// over the tensor ranks. `input`: the name under which the forward kept the input.
TensorId append_column_parallel_product_backward(ModelBlockBuildContext& e, TensorId dy,
                                                 KeptTensorRole input, const MatrixProduct& p);

/// Appends an in-place dropout of `x` if the model has dropout; keeps its mask under the name
/// `mask`.
void append_dropout(ModelBlockBuildContext& e, TensorId x, KeptTensorRole mask);
/// Appends the residual addition x + y and returns the sum; y goes through dropout if the model has
/// it (mask kept under the name `mask`).
TensorId append_residual_addition(ModelBlockBuildContext& e, TensorId x, TensorId y,
                                  KeptTensorRole mask);
/// Appends the backward of a residual addition x + y with dropout on y, and returns the gradient of
/// y.
TensorId append_residual_addition_backward(ModelBlockBuildContext& e, TensorId dz,
                                           KeptTensorRole mask);

/// Returns the stream on which the messages of a kind of parallelism run: one of their own if the
/// plan lets them overlap computation, else the compute stream.
DeviceStream stream_of_messages(const StepBuildSettings& s, ParallelismScheme scheme);

}  // namespace stepwright::step
