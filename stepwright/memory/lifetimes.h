#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes for each kind of tensor (activations, logits, gathered parameters, communication buffers),
/// as whole numbers.
using KindBytes = std::array<double, step::kTensorKinds>;

/// Returns the sum of bytes over all kinds of tensors.
double total_bytes(const KindBytes& kinds);

/// Which memory is counted: the device's or the host's; tensors in the other one count as 0 bytes.
enum class MemoryPlace : std::uint8_t { kDevice, kHost };

/// Returns the bytes of a tensor on the rank that holds most of it: for a tensor of routed tokens
/// `imbalance` times its mean, rounded up. 0 if the tensor is not in `place`.
double max_tensor_bytes_over_ranks(const step::TemplateTensor& tensor, double imbalance,
                                   MemoryPlace place = MemoryPlace::kDevice);

/// The time at which a tensor of a template (a repeated piece of the step, such as one layer's
/// forward) can be freed.
struct TensorLifetime {
  /// Index of the last operator, in issue order, that reads or writes the tensor; -1: none.
  std::int32_t last = -1;
  /// True if the tensor outlives its template (piece of the step), as an output or saved for the
  /// backward.
  bool kept = false;
};

/// Returns when each tensor of a template (a repeated piece of the step) can be freed.
std::vector<TensorLifetime> tensor_lifetimes(const step::OperatorTemplate& piece);

/// The memory that a template (a repeated piece of the step, such as one layer's forward) needs. A
/// tensor lives from the operator that first writes it (inputs: from the start) to the last
/// operator that reads or writes it; outputs and saved tensors outlive the template. An input is
/// freed after its last use unless it is also saved or an output.
struct OperatorTemplateMemory {
  /// Bytes saved for the backward: they stay allocated after the template, for each micro-batch.
  KindBytes retained{};
  /// Bytes that an earlier template (such as the layer's forward) saved and this one uses and
  /// frees.
  KindBytes restored{};
  /// Bytes at the template's peak, including its inputs, outputs, saved and restored tensors.
  KindBytes at_peak{};
  double peak_bytes = 0;  ///< Bytes at the template's peak: the sum of `at_peak`.
  /// Peak bytes until the last operator that reads a parameter has ended; weight gradients come
  /// later and do not count.
  double peak_using_parameters_bytes = 0;
  /// Bytes of inputs that earlier templates of the same sequence (the forward or backward of a
  /// model chunk) pass in.
  double input_bytes = 0;
  /// Bytes of outputs that are passed to later templates of the same sequence (the forward or
  /// backward of a model chunk).
  double output_bytes = 0;
};

/// Returns the memory that a template (a repeated piece of the step) needs; takes about a
/// microsecond. `imbalance`: largest load over the mean for tensors of routed tokens.
OperatorTemplateMemory template_memory_footprint(const step::OperatorTemplate& piece,
                                                 double imbalance,
                                                 MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
