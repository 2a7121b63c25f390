#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Returns the communication or copy stream of a template (a repeated piece of the step) that
/// computes nothing; nullopt for a template that computes.
std::optional<step::Stream> side_stream_of(const step::Template& piece);

/// True if a template (a repeated piece of the step) reduces gradients from a copy of its input,
/// which can then be freed at once.
bool reduces_gradients_from_copy(const step::Template& piece);

/// True if a template (a repeated piece of the step) gathers parameters into a buffer and copies
/// them out of it.
bool copies_gathered_parameters(const step::Template& piece);

/// Returns the index of the item in a backward that starts with the loss or the head; -1 if there
/// is none, and for sequences other than a backward.
std::int32_t loss_or_head_item_index(const step::StepProgram& program,
                                     const step::Sequence& sequence);

/// True if a sequence computes weight gradients: a whole backward, or its weight-gradient part.
bool computes_weight_gradients(const step::Sequence& sequence);

/// The share of a sequence's gradients that is allocated at each item, as the items are passed in
/// order. Reduced gradients exist from their reduction on (from its end if it sends a copy: the
/// unreduced ones are freed first; not for a table's only gradient), all others from the end of
/// their item. Source: pytorch/pytorch 2.13
/// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce.
class AllocatedGradientShare {
 public:
  AllocatedGradientShare(const step::StepProgram& program, const step::Sequence& sequence);

  /// Returns the share of the gradients that is allocated at the peak of `item` (such as one
  /// layer's backward), which must be the next one of the sequence.
  double during(const step::Item& item);
  /// Ends `item` (such as one layer's backward), and returns the share of the gradients that is
  /// allocated after it.
  double finish(const step::Item& item);

 private:
  [[nodiscard]] const step::Template& piece(const step::Item& item) const {
    return program_.templates[static_cast<std::size_t>(item.which)];
  }
  [[nodiscard]] bool comes_behind(const step::Item& item) const;

  const step::StepProgram& program_;
  double reduced_ = 0;  ///< Number of gradient elements that remain on the rank after reductions.
  double all_ = 0;      ///< Number of parameter elements whose gradients the sequence computes.
  double share_ = 0;
};

/// The share, at each item of a sequence, of the parameters that are gathered in a forward and kept
/// to the backward: in a forward the blocks so far, in a backward the blocks that are not done, in
/// an update none.
class GatheredParameterShare {
 public:
  GatheredParameterShare(const step::StepProgram& program, const step::Sequence& sequence);

  /// Returns the share of the parameters that is gathered at the peak of `item` (such as one
  /// layer's backward), which must be the next one of the sequence.
  double during(const step::Item& item);
  /// Counts the parameters of `item` (such as one layer's backward) as freed if it is part of a
  /// backward.
  void finish(const step::Item& item);

 private:
  [[nodiscard]] double own_elements(const step::Item& item) const;

  const step::StepProgram& program_;
  /// True if the sequence is a forward, which gathers; false: a backward, which frees.
  bool comes_ = false;
  double all_ = 0;  ///< Number of parameter elements in all blocks of the sequence.
  double share_ = 0;
};

/// True if each micro-batch ends its backward before the next one starts its forward (one stage
/// with one chunk), so that gathered parameters are freed for each micro-batch.
bool alternates_micro_batches(const step::StepProgram& program, const step::Stage& stage);

/// Bytes of the gradients that the first backward of each chunk of a stage allocates.
struct ChunkGradientBytes {
  /// Bytes of gradients, for each chunk of the stage.
  std::vector<double> bytes;
  /// Index of the chunk whose backward is not split into data and weight gradients; -1: none.
  std::int32_t whole_chunk = -1;
};

/// Returns the bytes of gradients that the first backward of each chunk allocates.
/// `whole_first_stage`: the backward of the model's first chunk is not split into data and weight
/// gradients.
ChunkGradientBytes first_backward_gradient_bytes(const step::StepProgram& program,
                                                 const step::Stage& stage, bool whole_first_stage);

/// Counts the idle chunks of a stage, those with no micro-batch between its forward and the end of
/// its backward: PyTorch modules of idle chunks keep tensors of their last micro-batch.
class IdleChunkCounter {
 public:
  explicit IdleChunkCounter(const step::Stage& stage)
      : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// Returns the number of idle chunks during `slot`, which must be the next one of the schedule.
  std::int64_t during(const step::ScheduleSlot& slot);

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const step::Stage& stage_;
  std::vector<std::int64_t> in_flight_;
};

}  // namespace stepwright::memory
