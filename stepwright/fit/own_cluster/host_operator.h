#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "stepwright/logs/readers/kineto_trace.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Widths (sizes of the last dimension) of a model's tensors, by which operators in a PyTorch trace
/// are told apart.
struct TensorWidths {
  std::set<std::int64_t> hidden;
  std::set<std::int64_t> inner;  ///< Inner widths of an MLP, on one rank or on all ranks together.
  /// Numbers of rows of the vocabulary, on one rank or on all ranks together.
  std::set<std::int64_t> vocabulary;
  /// Widths of an attention head, and their halves, which rotary embeddings use.
  std::set<std::int64_t> head;
};

/// Returns the tensor widths of a step program's operators on a rank, and of the whole model.
TensorWidths tensor_widths_of_program(const step::StepProgram& program,
                                      const model::ModelArchitecture& model);

/// The kind of computation that a PyTorch operator does, recognised by its name and sizes.
struct HostOperatorKind {
  step::OperatorKind kind{};
  /// True if the operator's name alone determines the kind of computation, whatever operator
  /// encloses it.
  bool certain = false;
};

/// Returns the kind of computation of a PyTorch operator; nullopt if neither name nor sizes
/// determine it.
std::optional<HostOperatorKind> recognise_pytorch_operator_kind(
    const logs::KinetoOperatorSignature& op, const TensorWidths& widths);

/// Returns the sizes of a PyTorch operator that is a matrix product [rows, inner] x [inner,
/// columns]; nullopt for any other operator.
std::optional<step::OperatorShape> host_matrix_product_sizes(
    const logs::KinetoOperatorSignature& op);

}  // namespace stepwright::fit
