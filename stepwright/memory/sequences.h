#pragma once

#include <span>
#include <vector>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The memory that a sequence (the forward or backward of one model chunk for a micro-batch) needs
/// while it runs and leaves behind, in addition to what was allocated when it started.
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
struct TemplateSequenceMemory {
  /// Bytes by kind of tensor at the peak of the sequence (the forward or backward of a model chunk
  /// for a micro-batch); negative for a kind of which the sequence has freed more by then than it
  /// holds.
  KindBytes at_peak{};
  /// Bytes at the peak of the sequence (a forward or backward of a model chunk): the sum of
  /// `at_peak`, never negative.
  double peak_bytes = 0;
  /// Bytes by kind of tensor by which allocated memory grows over the whole sequence (a forward or
  /// backward of a model chunk): saved minus restored tensors.
  KindBytes left{};
  /// Bytes of gradients that the sequence (a backward of a model chunk) has allocated by the time
  /// of its peak.
  double fresh_bytes = 0;
  /// Bytes of parameters that, at the peak of the sequence, stay gathered from a forward to its
  /// backward.
  double step_parameter_bytes = 0;
};

/// How a sequence (the forward or backward of one chunk) allocates gradients, and parameters that
/// stay gathered from the forward to the backward.
struct TemplateSequenceGradientAllocation {
  /// Bytes of the chunk's gradients, which the sequence allocates as they are computed; 0: there
  /// are none, or they exist already.
  double bytes = 0;
  /// True if the parameters of the layer below the head are gathered only while the head's matrix
  /// products run, so that they do not count at the peak of the loss.
  bool late_gathers = false;
  /// Bytes of the chunk's parameters that a forward gathers and the backward frees.
  double step_parameters = 0;
};

/// Returns the bytes that a sequence (the forward or backward of one chunk) needs in the memory
/// `place` (device or host). `footprints`: bytes that each of `program.templates` needs there.
TemplateSequenceMemory template_sequence_footprint(
    const step::StepProgram& program, const step::TemplateSequence& sequence,
    std::span<const OperatorTemplateMemory> footprints,
    const TemplateSequenceGradientAllocation& fresh = {}, MemoryPlace place = MemoryPlace::kDevice);

/// Returns the memory that each template (operators of one block in one direction, used again and
/// again) of a program needs, in the order of `program.templates`.
std::vector<OperatorTemplateMemory> template_memory_footprints(
    const step::StepProgram& program, MemoryPlace place = MemoryPlace::kDevice);

}  // namespace stepwright::memory
