#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Bytes by tensor kind; whole numbers, so that sums and differences are exact.
using KindBytes = std::array<double, step::kTensorKinds>;

/// The sum over all kinds.
double total_bytes(const KindBytes& kinds);

/// Whose memory an account is of: what lies in the other takes none.
enum class MemoryPlace : std::uint8_t { kDevice, kHost };

/// The bytes of a tensor in the memory of the rank that holds most of it: a routed one `imbalance`
/// times its mean, rounded up to a whole byte.
double buffer_bytes(const step::Tensor& tensor, double imbalance,
                    MemoryPlace place = MemoryPlace::kDevice);

/// When a tensor of a template dies.
struct Life {
  std::int32_t last = -1;  ///< The operator in issue order that touches it last; -1: none.
  bool kept = false;       ///< It outlives the template: an output, or saved.
};

/// One per tensor of the template.
std::vector<Life> lives_of(const step::Template& piece);

/// The effect of a template on memory, from its operands alone. A tensor lives from the operator
/// that writes it first (inputs and restored tensors: from before the first) to the last operator
/// in issue order that touches it (to the template's end if none does); outputs and saved tensors
/// outlive the template. An input is freed after its last use unless it is also saved or an output.
struct Footprint {
  KindBytes retained{};  ///< Saved for the backward: alive after the template, per micro-batch.
  KindBytes restored{};  ///< Taken over from an earlier template, which retained it.
  /// Alive at the template's largest moment: its own tensors, inputs, outputs, saved and restored
  /// ones included.
  KindBytes at_peak{};
  double peak_bytes = 0;  ///< The sum over `at_peak`.
  /// Bytes of the largest moment until the last operator that uses a parameter for more than its
  /// gradient.
  double peak_using_parameters_bytes = 0;
  double input_bytes = 0;   ///< Handed over by earlier items.
  double output_bytes = 0;  ///< Handed on to later items.
};

/// The footprint of a template; about a microsecond.
Footprint footprint(const step::Template& piece, double imbalance,
                    MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
