#pragma once

#include <string_view>

#include "stepwright/step/rematerialisation.h"
#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The output of the builders of blocks: the template, the setting, and the tensors kept for the
/// backward. A forward builder fills `kept`, a backward builder reads it.
struct Emit {
  TemplateBuilder& out;
  const Setting& s;
  Kept& kept;
  /// Phase of forward operators; kRecompute if a backward runs them again.
  Phase forward = Phase::kForward;
  /// Tensor of the layer's gathered parameters; -1: parameters are not sharded.
  TensorId parameters = -1;
  /// Tensor of the layer's gradients that a reduction reads; -1: they stay on the rank.
  TensorId gradients = -1;
  Slice rows{};              ///< Rows of the loss chunk being written; empty: all rows.
  bool splits_gate = false;  ///< True if the two halves of a gated product are separate products.
  /// Ends of the layer's modules, filled by a forward; null: not recorded.
  ModuleEnds* ends = nullptr;
  /// In a backward, recomputes tensors that were not kept; null: nothing is recomputed.
  Rematerialisation* rematerialisation = nullptr;
  /// In a forward, the tensors of which `kept` holds narrow copies; null: none.
  Kept* originals = nullptr;
};

/// Records `result` as the last tensor of a module.
void end_module(Emit& e, plan::Module module, TensorId result);

/// Returns the tensor that the forward kept under a role; in a backward, first recomputes it if it
/// was not kept. -1 if the forward has no such tensor.
TensorId kept(Emit& e, Keep role);

/// Returns a computation operator of a layer part, in the type of storage.
Operator computation(const Emit& e, OperatorKind kind, Phase phase, LayerPart part,
                     const Shape& shape);

/// A matrix product's sizes: [rows, inner] x [inner, columns].
struct Product {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  LayerPart part{};  ///< Part of the layer; it also names the product's parameter.
  /// Number of expert matrices that share the rows; 0: one plain product.
  std::int64_t groups = 0;
  /// True if the product runs in the type of storage whatever the precision of products: head and
  /// router, which fp8 recipes leave alone (Transformer Engine, Megatron-LM).
  bool wide = false;
  TensorId counts = -1;  ///< Tensor with the row count of each group; -1 without `groups`.
  /// Number of equal products, split by columns, that this one stands for. Their gradients of the
  /// common input are added up; where rows are not split over tensor ranks, each of these gradients
  /// is reduced separately.
  std::int64_t parts = 1;
};

/// Sizes of a matrix of activations.
struct Sheet {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool routed = false;  ///< True if `rows` is a mean over the expert ranks.
};

/// Create a new [rows, columns] activation, in the type `type` or in the type of storage.
TensorId activation(Emit& e, std::string_view name, DType type, std::int64_t rows,
                    std::int64_t columns);
TensorId activation(Emit& e, std::string_view name, std::int64_t rows, std::int64_t columns);
/// Creates a new [rows, columns] buffer that a message fills.
TensorId message_buffer(Emit& e, std::string_view name, std::int64_t rows, std::int64_t columns);

/// `product_operator` returns the operator of a product; `product_result` creates its result
/// tensor.
Operator product_operator(const Emit& e, Phase phase, const Product& p);
TensorId product_result(Emit& e, std::string_view name, const Product& p, std::int64_t columns);

/// Writes a matrix product without its adapter and returns its output [rows, columns].
TensorId linear(Emit& e, TensorId x, const Product& p);
/// As `linear`, and keeps for the weight gradient, under `role`, either `own` (this rank's shard of
/// the input) or a narrow copy of it (`keeps_narrow`).
TensorId linear_keeping(Emit& e, TensorId x, const Product& p, Keep role, TensorId own);
/// True if a product keeps a narrow copy of its input (step/narrow_operands.h): its weight is
/// trained, and no other operator keeps the input. Megatron-Core asks for no copies for two
/// products whose input is kept for other operators anyway, if scales need no history
/// (NVIDIA/Megatron-LM core 0.16 megatron/core/transformer/attention.py and moe/shared_experts.py,
/// set_save_original_input); fp8 is taken as Megatron's default, `--fp8-recipe delayed`, whose
/// scales have a history.
bool keeps_narrow(const Emit& e, const Product& p);
/// Writes the gradient [rows, inner] of a product's input and returns its tensor. `held`: a tensor
/// that stays in memory until this operator has run; `into`: the tensor that receives the gradient
/// as some of its rows. -1: none, and a new tensor.
TensorId linear_data_gradient(Emit& e, TensorId dy, const Product& p, TensorId held = -1,
                              TensorId into = -1);
/// Adds a product's weight gradient to the accumulated one; writes nothing if the weight is frozen.
void linear_weight_gradient(Emit& e, TensorId dy, TensorId x, const Product& p);
/// Adds the weight gradient of the operator `op` to the accumulated one.
void add_weight_gradient(Emit& e, const Operator& op, TensorId dy, TensorId x, TensorId counts);

/// True if a parameter of the block is trained.
bool is_trained(const Emit& e, ParameterId parameter);
/// Tensor that receives the gradient of a parameter; -1 if the parameter is frozen.
TensorId gradients_of(const Emit& e, ParameterId parameter);

/// Writes a product with its adapter, if it has one, and returns their output; keeps the input
/// under the role `input`.
TensorId adapted_linear(Emit& e, TensorId x, const Product& p, Keep input);
/// Writes the backward of `adapted_linear`, whose input was kept under the role `input`: the
/// gradients of what is trained, and of the input, which it returns.
TensorId linear_backward(Emit& e, TensorId dy, Keep input, const Product& p);

/// Copies that an unfused norm keeps, as a multiple of its own elements in the type of storage: the
/// input in fp32, and the normed rows before the weight multiplies them, which only the weight's
/// gradient needs (huggingface/transformers models/llama/modeling_llama.py, LlamaRMSNorm).
std::int64_t norm_copies(const Setting& setting, bool trained);

/// The part and kept tensors of a norm: it keeps its input and statistics under two roles. An
/// unfused norm is a series of elementary operators on an fp32 copy (`norm_copies`), which its
/// backward reads instead of the input.
struct NormRole {
  Keep input{};
  Keep statistics{};
  LayerPart part{};
  Keep copies{};           ///< Role of the fp32 copies that an unfused norm keeps.
  std::int64_t parts = 1;  ///< Number of parts of a row that are normed separately.
};
TensorId norm(Emit& e, TensorId x, const Sheet& sheet, const NormRole& role);
/// Writes a norm's backward, with the gradient of its weight. Returns the gradient of its input,
/// plus `residual` if it is not -1.
TensorId norm_backward(Emit& e, TensorId dy, const Sheet& sheet, const NormRole& role,
                       TensorId residual = -1);

/// A transition of rows into or out of a tensor-parallel region.
struct TensorRegionCrossing {
  std::int64_t columns = 0;
  LayerPart part{};
  Phase phase{};
  bool of_columns = false;  ///< True for a message in the backward of a product split by columns.
};

/// Writes the entry into a tensor-parallel region: an all-gather of rows under sequence
/// parallelism, otherwise nothing.
TensorId enter_tensor(Emit& e, TensorId x, const TensorRegionCrossing& crossing);
/// Writes the exit from a tensor-parallel region: a reduce-scatter of rows under sequence
/// parallelism, otherwise an all-reduce. The backward of an entry is an exit, and the backward of
/// an exit is an entry.
TensorId leave_tensor(Emit& e, TensorId partial, const TensorRegionCrossing& crossing);

/// Writes an in-place all-reduce of a tensor over the tensor ranks, the context ranks or the
/// pipeline positions (`scheme`), in the tensor's own type.
void sum_over(Emit& e, Scheme scheme, TensorId tensor, Phase phase, LayerPart part);

/// Starts a pass over the vocabulary: the operators that follow belong to it. No effect where all
/// positions run the vocabulary's work at the same time.
void begin_pass(Emit& e, schedule::Direction pass);

/// Broadcasts rows of the residual stream from the position at an end of the model to all others,
/// and returns them. `rows`: -1 on a position that receives them.
TensorId hand_out(Emit& e, TensorId rows, Phase phase, LayerPart part);

/// Writes a column-parallel product after `enter_tensor`. Keeps under `input` what the weight
/// gradient needs: the gathered input, or the sharded one, which the backward gathers again.
TensorId column_linear(Emit& e, TensorId x, Keep input, const Product& p);
/// Writes the backward of `column_linear`; returns the gradient of `x`, reduced over the tensor
/// ranks.
TensorId column_linear_backward(Emit& e, TensorId dy, Keep input, const Product& p);

/// Writes an in-place dropout of `x` if the model has dropout; keeps the mask under a role.
void dropout(Emit& e, TensorId x, Keep mask);
/// Writes x + y, with dropout on y if the model has it (mask kept under `mask`).
TensorId residual_add(Emit& e, TensorId x, TensorId y, Keep mask);
/// Writes the backward of `residual_add` and returns the gradient of y.
TensorId residual_backward(Emit& e, TensorId dz, Keep mask);

/// Stream of a scheme's messages: one of their own if the plan lets them overlap computation, else
/// the compute stream.
Stream message_stream(const Setting& s, Scheme scheme);

}  // namespace stepwright::step
