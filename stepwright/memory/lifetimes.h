#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes by tensor kind; whole numbers, so that sums and differences are exact.
using KindBytes = std::array<double, step::kTensorKinds>;

/// Returns the sum over all kinds of tensors.
double total_bytes(const KindBytes& kinds);

/// The memory that an account counts; tensors in the other one count as 0 bytes.
enum class MemoryPlace : std::uint8_t { kDevice, kHost };

/// Bytes of a tensor on the rank that holds most of it: for a routed tensor `imbalance` times its
/// mean, rounded up to a whole byte. 0 if the tensor is not in `place`.
double buffer_bytes(const step::Tensor& tensor, double imbalance,
                    MemoryPlace place = MemoryPlace::kDevice);

/// The end of a tensor's life in a template.
struct TensorLifetime {
  /// The last operator, in issue order, that reads or writes the tensor; -1: none.
  std::int32_t last = -1;
  bool kept = false;  ///< True if the tensor outlives the template, as an output or saved.
};

/// Returns the life of each tensor of a template.
std::vector<TensorLifetime> tensor_lifetimes(const step::Template& piece);

/// The effect of a template on memory, from its operands alone. A tensor lives from the operator
/// that writes it first (inputs and restored tensors: from before the first) to the last operator
/// in issue order that reads or writes it (to the template's end if none does); outputs and saved
/// tensors outlive the template. An input is freed after its last use unless it is also saved or an
/// output.
struct Footprint {
  /// Bytes saved for the backward: alive after the template, per micro-batch.
  KindBytes retained{};
  KindBytes restored{};  ///< Bytes restored from an earlier template, which retained them.
  /// Bytes alive at the template's peak: its own tensors, inputs, outputs, saved and restored
  /// tensors.
  KindBytes at_peak{};
  double peak_bytes = 0;  ///< The sum over `at_peak`.
  /// Peak bytes up to the last operator that reads a parameter (weight gradients do not count).
  double peak_using_parameters_bytes = 0;
  double input_bytes = 0;   ///< Bytes received from earlier items.
  double output_bytes = 0;  ///< Bytes passed to later items.
};

/// Returns the footprint of a template; takes about a microsecond.
Footprint footprint(const step::Template& piece, double imbalance,
                    MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
