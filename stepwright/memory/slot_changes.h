#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Returns the communication or copy stream of a template (a repeated piece of the step) that
/// computes nothing; nullopt for a template that computes.
std::optional<step::DeviceStream> communication_stream_of_template(
    const step::OperatorTemplate& piece);

/// True if a template (a repeated piece of the step) reduces gradients from a copy of its input,
/// which can then be freed at once.
bool reduces_gradients_from_input_copy(const step::OperatorTemplate& piece);

/// True if a template (a repeated piece of the step) gathers parameters into a buffer and copies
/// them out of it.
bool copies_gathered_parameters(const step::OperatorTemplate& piece);

/// Returns the index, among the templates of a backward, of the one that starts with the loss or
/// the head; -1 if there is none, and for sequences other than a backward.
std::int32_t loss_or_head_item_index(const step::StepProgram& program,
                                     const step::TemplateSequence& sequence);

/// True if a sequence computes weight gradients: a whole backward, or its weight-gradient part.
bool computes_weight_gradients(const step::TemplateSequence& sequence);

/// The share of a sequence's gradients that is allocated at each item, as the items are passed in
/// order. If the sequence reduces gradients, they count from the start of their reduction, or from
/// its end if it sends a copy of a layer's gradients (the unreduced ones are freed first); else
/// from the end of the item that computes them. Source: pytorch/pytorch 2.13
/// torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce.
class AllocatedGradientShare {
 public:
  AllocatedGradientShare(const step::StepProgram& program, const step::TemplateSequence& sequence);

  /// Returns the share of the gradients that is allocated at the peak of `item` (such as one
  /// layer's backward), which must be the next one of the sequence.
  double memory_share_at_sequence_item_peak(const step::TemplateSequenceItem& item);
  /// Ends `item` (such as one layer's backward), and returns the share of the gradients that is
  /// allocated after it.
  double finish(const step::TemplateSequenceItem& item);

 private:
  [[nodiscard]] const step::OperatorTemplate& piece(const step::TemplateSequenceItem& item) const {
    return program_.templates[static_cast<std::size_t>(item.which)];
  }
  [[nodiscard]] bool comes_behind(const step::TemplateSequenceItem& item) const;

  const step::StepProgram& program_;
  /// Number of gradient elements that remain on the rank after data-parallel reductions.
  double reduced_ = 0;
  double all_ = 0;  ///< Number of parameter elements whose gradients the sequence computes.
  double share_ = 0;
};

/// The share, at each item (such as one layer's forward) of a sequence, of the parameters that are
/// gathered in a forward and kept to the backward: in a forward those of the blocks run so far, in
/// a backward those of the blocks still to run, in an update none.
class GatheredParameterShare {
 public:
  GatheredParameterShare(const step::StepProgram& program, const step::TemplateSequence& sequence);

  /// Returns the share of the parameters that is gathered at the peak of `item` (such as one
  /// layer's backward), which must be the next one of the sequence.
  double memory_share_at_sequence_item_peak(const step::TemplateSequenceItem& item);
  /// Counts the parameters of `item` (such as one layer's backward) as freed if it is part of a
  /// backward.
  void finish(const step::TemplateSequenceItem& item);

 private:
  [[nodiscard]] double own_elements(const step::TemplateSequenceItem& item) const;

  const step::StepProgram& program_;
  /// True if the sequence is a forward, which gathers the parameters of its blocks; false: a
  /// backward, which frees them.
  bool comes_ = false;
  double all_ = 0;  ///< Number of parameter elements in all blocks of the sequence.
  double share_ = 0;
};

/// True if each micro-batch ends its backward before the next one starts its forward (one stage
/// with one chunk), so that gathered parameters are freed for each micro-batch.
bool runs_one_micro_batch_at_a_time(const step::StepProgram& program,
                                    const step::PipelineStageProgram& stage);

/// Bytes of the gradients that the first backward of each chunk of a stage allocates.
struct ModelChunkGradientBytes {
  /// Bytes of gradients, for each chunk of the stage.
  std::vector<double> bytes;
  /// Index of the chunk whose backward is not split into data and weight gradients; -1: none.
  std::int32_t whole_chunk = -1;
};

/// Returns the bytes of gradients that the first backward of each chunk allocates.
/// `whole_first_stage`: true if the backward of the model's first chunk is not split into data and
/// weight gradients.
ModelChunkGradientBytes first_backward_gradient_bytes(const step::StepProgram& program,
                                                      const step::PipelineStageProgram& stage,
                                                      bool whole_first_stage);

/// Counts the idle chunks of a stage, those with no micro-batch between its forward and the end of
/// its backward: PyTorch modules of idle chunks keep tensors of their last micro-batch.
class IdleModelChunkCounter {
 public:
  explicit IdleModelChunkCounter(const step::PipelineStageProgram& stage)
      : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// Returns the number of idle chunks during `slot` (a forward or backward of one micro-batch),
  /// which must be the next one of the schedule.
  std::int64_t idle_chunks_during_slot(const step::PipelineScheduleSlot& slot);

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const step::PipelineStageProgram& stage_;
  std::vector<std::int64_t> in_flight_;
};

}  // namespace stepwright::memory
