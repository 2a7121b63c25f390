#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "stepwright/logs/readers/kineto_trace.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Widths by which operators of a framework are told apart.
struct ModelWidths {
  std::set<std::int64_t> hidden;
  std::set<std::int64_t> inner;       ///< Widths of an MLP, on one rank or on all.
  std::set<std::int64_t> vocabulary;  ///< Rows of the vocabulary, on one rank or on all.
  std::set<std::int64_t> head;        ///< Widths of a head, and their halves, which rotate.
};

/// The widths of a program's operators, and of the model before it was cut.
ModelWidths widths_of(const step::StepProgram& program, const model::Architecture& model);

/// The computation of an operator of PyTorch, by its name and sizes.
struct HostOperator {
  step::OperatorKind kind{};
  bool certain = false;  ///< True if its name alone says it, whatever encloses it.
};

/// The operator; nullopt if neither name nor sizes tell.
std::optional<HostOperator> host_operator(const logs::KinetoSignature& op,
                                          const ModelWidths& widths);

/// The sizes of a matrix product [rows, inner] x [inner, columns]; nullopt for anything else.
std::optional<step::Shape> host_product(const logs::KinetoSignature& op);

}  // namespace stepwright::fit
