#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "stepwright/logs/readers/kineto_trace.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Widths of a model by which the operators of a framework are told apart.
struct ModelWidths {
  std::set<std::int64_t> hidden;
  std::set<std::int64_t> inner;       ///< Widths of an MLP, on one rank or on all.
  std::set<std::int64_t> vocabulary;  ///< Rows of the vocabulary, on one rank or on all.
  /// Widths of a head, and their halves, which rotary embeddings use.
  std::set<std::int64_t> head;
};

/// Returns the widths of a program's operators, and of the model before it was cut.
ModelWidths widths_of(const step::StepProgram& program, const model::Architecture& model);

/// The kind of computation of a PyTorch operator, from its name and sizes.
struct HostOperator {
  step::OperatorKind kind{};
  bool certain = false;  ///< True if its name alone determines it, whatever operator encloses it.
};

/// Returns the computation of an operator; nullopt if neither its name nor its sizes determine it.
std::optional<HostOperator> host_operator(const logs::KinetoSignature& op,
                                          const ModelWidths& widths);

/// Returns the sizes of a matrix product [rows, inner] x [inner, columns]; nullopt for any other
/// operator.
std::optional<step::Shape> host_product(const logs::KinetoSignature& op);

}  // namespace stepwright::fit
