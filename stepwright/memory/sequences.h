#pragma once

#include <span>
#include <vector>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The effect on memory of running a sequence once, in addition to what was alive when it started.
///
/// Items run in their order. An output that an item passes on is one buffer, counted once, until
/// the item that reads it is done (to the end of the sequence if no item reads it). An item without
/// operators on the compute stream, a gather or a reduction that overlaps, runs beside other items:
/// its outputs exist from the end of the last item that it waits for (from the start if it waits
/// for none), and its inputs stay until the next item of its stream starts or the sequence ends. A
/// reduction that sends a copy of its inputs frees the inputs at once, and the copy stays that
/// long; gathers that wait for no later item start after such a reduction. A gather that copies
/// parameters out of its buffer holds buffer and copy from its own position in the order, and the
/// buffer until the next gather is done. So prefetched parameters and gradients under reduction
/// have two buffers if the program overlaps them.
///
/// Builders guarantee that only one item reads an output, and that a tensor is saved by the item
/// that reads it, not by the item that passes it on.
struct SequenceFootprint {
  /// Bytes by kind at the peak; negative for kinds of which a backward has freed more by then than
  /// it holds.
  KindBytes at_peak{};
  double peak_bytes = 0;   ///< Sum of `at_peak`; never negative.
  KindBytes left{};        ///< Bytes alive afterwards: saved minus restored.
  double fresh_bytes = 0;  ///< Bytes of gradients that the sequence has allocated by its peak.
  double step_parameter_bytes = 0;  ///< Bytes of parameters gathered for the step, at the peak.
};

/// How gradients and parameters gathered for a step are allocated during a sequence.
struct FreshGradients {
  /// Bytes of the chunk's gradients, allocated as they are reduced; 0: there are none, or all exist
  /// already.
  double bytes = 0;
  /// True if the parameters of the layer below the head are gathered while the head's products run,
  /// and not while the loss does: they do not count at the peak of the head's item.
  bool late_gathers = false;
  /// Bytes of the chunk's parameters that a forward gathers and its backward frees
  /// (`StepParameters`).
  double step_parameters = 0;
};

/// Returns the footprint of a sequence from those of its items (`footprints` is parallel to
/// `program.templates`, and for the same `place`).
SequenceFootprint sequence_footprint(const step::StepProgram& program,
                                     const step::Sequence& sequence,
                                     std::span<const Footprint> footprints,
                                     const FreshGradients& fresh = {},
                                     MemoryPlace place = MemoryPlace::kDevice);

/// Returns the footprints of all templates of a program.
std::vector<Footprint> footprints_of(const step::StepProgram& program,
                                     MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
