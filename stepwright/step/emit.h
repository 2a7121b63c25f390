#pragma once

#include <string_view>

#include "stepwright/step/rematerialisation.h"
#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The target to which the builders of blocks write. A forward builder fills `kept`, a backward
/// builder reads it.
struct Emit {
  TemplateBuilder& out;
  const Setting& s;
  Kept& kept;
  Phase forward = Phase::kForward;  ///< kRecompute when a backward runs a forward again.
  TensorId parameters = -1;         ///< The layer's gathered parameters, when they are sharded.
  TensorId gradients = -1;          ///< The layer's gradients on their way to being reduced.
  Slice rows{};                     ///< The chunk of a loss that is written; none: all rows.
  bool splits_gate = false;         ///< The halves of a gated product are products of their own.
  ModuleEnds* ends = nullptr;       ///< Ends of its modules, in a forward.
  Rematerialisation* rematerialisation = nullptr;  ///< Rebuilds what was not kept, in a backward.
  Kept* originals = nullptr;  ///< Tensors of which `kept` has narrow copies, in a forward.
};

/// Notes that a module ends with this tensor.
void end_module(Emit& e, plan::Module module, TensorId result);

/// The tensor that a forward kept under a role; in a backward what it did not keep is computed anew
/// first. -1 where the forward had none.
TensorId kept(Emit& e, Keep role);

/// A computation of a part, in the type of storage.
Operator computation(const Emit& e, OperatorKind kind, Phase phase, LayerPart part,
                     const Shape& shape);

/// A matrix product's sizes: [rows, inner] x [inner, columns].
struct Product {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  LayerPart part{};         ///< Part of the layer, which names its parameter too.
  std::int64_t groups = 0;  ///< Above 0: that many expert matrices share the rows.
  /// Whether it is in the type of storage whatever the precision of products: head and router,
  /// which fp8 recipes leave alone (Transformer Engine, Megatron-LM).
  bool wide = false;
  TensorId counts = -1;  ///< Rows of each group, with `groups`.
  /// Products that this one stands for, each with an equal part of the columns: what each gives to
  /// the gradient of the input is added to the others', and reduced by itself where rows are not
  /// split over tensor ranks.
  std::int64_t parts = 1;
};

/// Sizes of a matrix of activations.
struct Sheet {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool routed = false;  ///< Rows are a mean over expert ranks.
};

/// A new [rows, columns] activation, in a type of its own or that of storage.
TensorId activation(Emit& e, std::string_view name, DType type, std::int64_t rows,
                    std::int64_t columns);
TensorId activation(Emit& e, std::string_view name, std::int64_t rows, std::int64_t columns);
/// A new [rows, columns] activation that a message fills.
TensorId message_buffer(Emit& e, std::string_view name, std::int64_t rows, std::int64_t columns);

/// The operator that stands for a product in a template, and the tensor of its result.
Operator product_operator(const Emit& e, Phase phase, const Product& p);
TensorId product_result(Emit& e, std::string_view name, const Product& p, std::int64_t columns);

/// Output [rows, columns] of a matrix product, without an adapter.
TensorId linear(Emit& e, TensorId x, const Product& p);
/// As `linear`; keeps what the weight gradient needs of `own`, this rank's part of the input, under
/// a role: `own` itself, or a narrow copy of it (`keeps_narrow`).
TensorId linear_keeping(Emit& e, TensorId x, const Product& p, Keep role, TensorId own);
/// True if a product keeps a narrow copy of its input (step/narrow_operands.h): its weight learns,
/// and nothing else keeps the input. Of two products whose input is kept for others anyway
/// Megatron-Core asks for no copies where scales need no history (NVIDIA/Megatron-LM core 0.16
/// megatron/core/transformer/attention.py and moe/shared_experts.py, set_save_original_input); fp8
/// is taken for Megatron's default, `--fp8-recipe delayed`, whose scales have one.
bool keeps_narrow(const Emit& e, const Product& p);
/// Gradient [rows, inner] with respect to the input; `held`: what stands until then, `into`: whose
/// rows it is, where that is more than its own.
TensorId linear_data_gradient(Emit& e, TensorId dy, const Product& p, TensorId held = -1,
                              TensorId into = -1);
/// Gradient of the weight, added to the accumulated one; nothing of a frozen one.
void linear_weight_gradient(Emit& e, TensorId dy, TensorId x, const Product& p);
/// Adds an operator's weight gradient to the accumulated one.
void add_weight_gradient(Emit& e, const Operator& op, TensorId dy, TensorId x, TensorId counts);

/// Whether a parameter of the block is trained.
bool is_trained(const Emit& e, ParameterId parameter);
/// The target of a gradient of a parameter; -1 of a frozen one.
TensorId gradients_of(const Emit& e, ParameterId parameter);

/// Output of a product with that of its adapter, if it has one; keeps its input under a role.
TensorId adapted_linear(Emit& e, TensorId x, const Product& p, Keep input);
/// Backward of `adapted_linear`: the gradient of the input, which was kept under a role, and of
/// what is trained.
TensorId linear_backward(Emit& e, TensorId dy, Keep input, const Product& p);

/// The copies that an unfused norm keeps, in elements of the type of storage for each of its own:
/// the input in fp32, and what its weight multiplies, which the gradient of the weight alone needs
/// (huggingface/transformers models/llama/modeling_llama.py, LlamaRMSNorm).
std::int64_t norm_copies(const Setting& setting, bool trained);

/// A norm over `columns`; keeps its input and statistics under two roles. An unfused one is a row
/// of elementary operators on an fp32 copy (`norm_copies`), which a backward reads instead of the
/// input.
struct NormRole {
  Keep input{};
  Keep statistics{};
  LayerPart part{};
  Keep copies{};           ///< Copies that it keeps as well when it is not fused.
  std::int64_t parts = 1;  ///< Parts of a row, each normed by itself.
};
TensorId norm(Emit& e, TensorId x, const Sheet& sheet, const NormRole& role);
/// Gradient of a norm's input, plus `residual` when there is one; the weight's gradient with it.
TensorId norm_backward(Emit& e, TensorId dy, const Sheet& sheet, const NormRole& role,
                       TensorId residual = -1);

/// The crossing of rows over the border of a tensor-parallel region.
struct Crossing {
  std::int64_t columns = 0;
  LayerPart part{};
  Phase phase{};
  bool of_columns = false;  ///< True in the backward of a product split by columns.
};

/// Entry of a tensor-parallel region, forward: under sequence parallelism all-gathers rows.
TensorId enter_tensor(Emit& e, TensorId x, const Crossing& crossing);
/// Exit of a tensor-parallel region: reduce-scatters rows under sequence parallelism, all-reduces
/// without. The backward of an entry is an exit and the reverse.
TensorId leave_tensor(Emit& e, TensorId partial, const Crossing& crossing);

/// The sum of a tensor over the tensor or the context ranks, or over the positions of the pipeline,
/// in its own type and place.
void sum_over(Emit& e, Scheme scheme, TensorId tensor, Phase phase, LayerPart part);

/// From here on operators are of a pass over the vocabulary, where positions do not meet for it.
void begin_pass(Emit& e, schedule::Direction pass);

/// Rows of the residual stream from the position at an end of the model, which alone has them
/// (`rows`; -1: to be received), to all others.
TensorId hand_out(Emit& e, TensorId rows, Phase phase, LayerPart part);

/// A column-parallel product behind `enter_tensor`: keeps what the weight gradient needs under
/// `input` (the gathered input, or the sharded one to gather again).
TensorId column_linear(Emit& e, TensorId x, Keep input, const Product& p);
/// Backward of `column_linear`; returns the gradient of `x`, reduced.
TensorId column_linear_backward(Emit& e, TensorId dy, Keep input, const Product& p);

/// Dropout of x in its place when the model has it; its mask is kept under a role.
void dropout(Emit& e, TensorId x, Keep mask);
/// x + y, with dropout on y when the model has it (mask kept under `mask`).
TensorId residual_add(Emit& e, TensorId x, TensorId y, Keep mask);
/// The gradient that goes on into y's branch.
TensorId residual_backward(Emit& e, TensorId dz, Keep mask);

/// The queue of a scheme's messages: their own when they may overlap, else the compute stream.
Stream message_stream(const Setting& s, Scheme scheme);

}  // namespace stepwright::step
