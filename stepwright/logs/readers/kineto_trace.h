#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stepwright/logs/readers/kineto_events.h"
#include "stepwright/logs/readers/kineto_message.h"

namespace stepwright::logs {

/// Name of an operator, and shapes, types and values of its arguments. Stored once for all equal
/// events: a trace has few different ones, although each runs thousands of times.
struct KinetoOperatorSignature {
  /// Name of the operator: "aten::mm", "MmBackward0", ...
  std::string name;
  /// `Input Dims`: a shape for each argument; empty for arguments that are no tensor.
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<std::string> types;  ///< Types of the arguments: the event's `Input type`.
  /// `Concrete Inputs`: a value for each argument; empty for tensors.
  std::vector<std::string> values;
};

/// An operator of PyTorch that ran on a host thread (`cat: cpu_op`).
struct KinetoOperator {
  int signature = 0;  ///< Name and arguments: an index into `KinetoTrace::signatures`.
  int parent = -1;    ///< Index of the operator that encloses it on its thread; -1: none.
  /// Number that links an operator of the backward with its forward operator; -1: none.
  std::int64_t sequence = -1;
  int thread = 0;  ///< Host thread that ran the operator.
  double start_us = 0;
  double end_us = 0;
};

/// A named span of time on a host thread (`cat: user_annotation`): a step, an optimizer update, a
/// call of Gloo.
struct KinetoUserAnnotation {
  std::string name;
  int thread = 0;
  double start_us = 0;
  double end_us = 0;
};

/// A kernel that ran on the device (`cat: kernel`).
struct KinetoKernel {
  std::size_t event = 0;  ///< Index of the kernel's event among the events of the file, from 1.
  /// Name of the kernel that ran: an index into `KinetoTrace::names`.
  int name = 0;
  double start_us = 0;
  double duration_us = 0;
  int op = -1;  ///< Index of the innermost operator that launched the kernel; -1: not known.
  /// For an NCCL kernel, the index of its message in `KinetoTrace::messages`; -1: none.
  int message = -1;
  /// True if kernels of other streams ran during at most 2 % of the kernel's time.
  bool alone = true;
};

/// A trace that the PyTorch profiler exported: the fields from which samples of operator times are
/// made.
struct KinetoTrace {
  std::string file;    ///< Name of the file, for messages.
  std::string device;  ///< Name of the first device in the trace: "NVIDIA H100 80GB HBM3".
  std::vector<KinetoOperatorSignature> signatures;
  std::vector<KinetoOperator> operators;
  std::vector<KinetoUserAnnotation>
      marks;  ///< Named spans of time (`user_annotation`), in file order.
  std::vector<TraceCommunicationCall>
      messages;                       ///< Communication calls that the NCCL kernels describe.
  std::vector<KinetoKernel> kernels;  ///< Kernels, in file order.
  std::vector<std::string> names;     ///< Names of kernels, each once.

  [[nodiscard]] const KinetoOperatorSignature& signature_of(int op) const {
    return signatures[static_cast<std::size_t>(operators[static_cast<std::size_t>(op)].signature)];
  }
  [[nodiscard]] const std::string& name_of(const KinetoKernel& kernel) const {
    return names[static_cast<std::size_t>(kernel.name)];
  }
};

/// Returns a consumer of trace events that adds operators, marks and kernels to `trace`, which must
/// outlive it. A kernel belongs to the operator with its `External id`, or else to the launch with
/// its `correlation`; operators nest by time on their thread. Fails with `kInput` if one of these
/// events is no JSON.
std::unique_ptr<KinetoTraceConsumer> make_kineto_operator_consumer(KinetoTrace& trace);

}  // namespace stepwright::logs
