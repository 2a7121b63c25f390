#pragma once

#include <span>
#include <vector>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The effect on memory of running a sequence once, beside what was alive when it started.
///
/// Items run in their order; what an item hands on is one buffer, counted once, until the item that
/// takes it as an input is done (to the end of the sequence if none does). An item without
/// operators on the compute stream, a gather or a reduction that overlaps, runs beside others: what
/// it makes is there from the end of the last item that it waits for (from the start if it waits
/// for none), and what it takes stays until the next item of its stream comes, or the sequence
/// ends; where it sends a copy of what it takes, the copy stays so long, and what it takes goes
/// with it; gathers that wait for no later item come behind such a reduction. A gather that copies
/// out what it makes holds both from its own place in the order, and what it has made until the
/// next gather is done. So prefetched parameters and gradients under reduction have two buffers
/// where the program overlaps them.
///
/// Builders keep to this: one item takes an output, and a tensor is saved by the item that reads
/// it, not by the one that hands it on.
struct SequenceFootprint {
  KindBytes at_peak{};  ///< At its largest moment; negative for kinds of which a backward has given
                        ///< back more by then than it holds.
  double peak_bytes = 0;            ///< Sum of `at_peak`; never negative.
  KindBytes left{};                 ///< Alive afterwards: saved less restored.
  double fresh_bytes = 0;           ///< Gradients that the sequence has made by its largest moment.
  double step_parameter_bytes = 0;  ///< Parameters gathered for the step, at that moment.
};

/// How gradients come into a sequence.
struct FreshGradients {
  double bytes =
      0;  ///< Gradients of its chunk, made as they are reduced; 0: none, or all are there.
  /// Parameters of the layer below are gathered beside the head's products alone, not beside the
  /// loss: not while the item of the head has its largest moment.
  bool late_gathers = false;
  /// Parameters of its chunk that come with a forward and go with its backward (`StepParameters`).
  double step_parameters = 0;
};

/// Composes the footprints of the items (`footprints` is parallel to `program.templates`, and of
/// the same place).
SequenceFootprint sequence_footprint(const step::StepProgram& program,
                                     const step::Sequence& sequence,
                                     std::span<const Footprint> footprints,
                                     const FreshGradients& fresh = {},
                                     MemoryPlace place = MemoryPlace::kDevice);

/// The footprints of all templates of a program.
std::vector<Footprint> footprints_of(const step::StepProgram& program,
                                     MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
