#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stepwright/logs/readers/kineto_events.h"
#include "stepwright/logs/readers/kineto_message.h"

namespace stepwright::logs {

/// The fields that operators of a trace have in common: few of them, though each runs thousands of
/// times.
struct KinetoSignature {
  /// Name of the operator: "aten::mm", "MmBackward0", ...
  std::string name;
  std::vector<std::vector<std::int64_t>> dims;  ///< `Input Dims`; empty for what is no tensor.
  std::vector<std::string> types;               ///< The event's `Input type`.
  std::vector<std::string> values;              ///< `Concrete Inputs`; empty for tensors.
};

/// An operator of the framework on a thread of the host (`cat: cpu_op`).
struct KinetoOperator {
  int signature = 0;           ///< An index into `KinetoTrace::signatures`.
  int parent = -1;             ///< The operator that encloses it on its thread; -1: none.
  std::int64_t sequence = -1;  ///< Joins a node of the backward with its forward; -1: none.
  int thread = 0;              ///< Thread of the host.
  double start_us = 0;
  double end_us = 0;
};

/// The mark of a thread of the host (`cat: user_annotation`): a step, an update, a call of Gloo.
struct KinetoMark {
  std::string name;
  int thread = 0;
  double start_us = 0;
  double end_us = 0;
};

/// A kernel on the device (`cat: kernel`).
struct KinetoKernel {
  std::size_t event = 0;  ///< Number among the events of the file, from 1.
  int name = 0;           ///< An index into `KinetoTrace::names`.
  double start_us = 0;
  double duration_us = 0;
  int op = -1;        ///< The innermost operator that launched it; -1: not known.
  int message = -1;   ///< For a kernel of NCCL, an index into `KinetoTrace::messages`; -1: none.
  bool alone = true;  ///< No kernel of another stream ran beside more than 2 % of it.
};

/// The export of the PyTorch profiler, as far as samples need it.
struct KinetoTrace {
  std::string file;    ///< Name of the file, for messages.
  std::string device;  ///< Name of the first device: "NVIDIA H100 80GB HBM3".
  std::vector<KinetoSignature> signatures;
  std::vector<KinetoOperator> operators;
  std::vector<KinetoMark> marks;       ///< Marks, in file order.
  std::vector<TraceMessage> messages;  ///< Messages of NCCL's kernels.
  std::vector<KinetoKernel> kernels;   ///< Kernels, in file order.
  std::vector<std::string> names;      ///< Names of kernels, each once.

  [[nodiscard]] const KinetoSignature& signature_of(int op) const {
    return signatures[static_cast<std::size_t>(operators[static_cast<std::size_t>(op)].signature)];
  }
  [[nodiscard]] const std::string& name_of(const KinetoKernel& kernel) const {
    return names[static_cast<std::size_t>(kernel.name)];
  }
};

/// Gathers the operators, marks and kernels of a trace, which must outlive it: kernels are joined
/// with the operator of their `External id`, or else of the launch with their `correlation`;
/// operators nest by time on their thread. Fails with `kInput` where one of these is no JSON.
std::unique_ptr<KinetoTaker> kineto_operators(KinetoTrace& trace);

}  // namespace stepwright::logs
