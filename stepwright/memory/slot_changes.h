#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// Returns the stream of a template that has no operators on the compute stream; nullopt for any
/// other template.
std::optional<step::Stream> side_stream_of(const step::Template& piece);

/// True if a template is a reduction that sends a copy of its input gradients.
bool sends_copy(const step::Template& piece);

/// True if a template is a gather whose parameters are copied out of its buffer, its last output.
bool copies_gathered(const step::Template& piece);

/// Returns the index of the backward's item that starts with the loss, or with the gradients that a
/// forward has computed of it; -1 if there is none, and for other sequences.
std::int32_t head_item(const step::StepProgram& program, const step::Sequence& sequence);

/// True if a sequence ends the backward of its micro-batch, so that its gradients are complete.
bool makes_gradients(const step::Sequence& sequence);

/// The share of a sequence's gradients that exists after each item. Reduced gradients exist from
/// their reduction on or, if a layer's reduction sends a copy, from its end, as the unreduced ones
/// are freed first. (A table's only gradient stays: pytorch/pytorch 2.13
/// torch/distributed/fsdp/_fully_shard/ _fsdp_collectives.py, foreach_reduce.) All other gradients
/// exist after their item.
class MadeGradients {
 public:
  MadeGradients(const step::StepProgram& program, const step::Sequence& sequence);

  /// Returns the share at the peak of the next item, `item`.
  double during(const step::Item& item);
  /// Ends the item, and returns the share after it.
  double finish(const step::Item& item);

 private:
  [[nodiscard]] const step::Template& piece(const step::Item& item) const {
    return program_.templates[static_cast<std::size_t>(item.which)];
  }
  [[nodiscard]] bool comes_behind(const step::Item& item) const;

  const step::StepProgram& program_;
  double reduced_ = 0;  ///< Elements of gradients that remain on the rank after reductions.
  double all_ = 0;      ///< Elements of parameters whose gradients the items compute.
  double share_ = 0;
};

/// The share of parameters gathered for a step that exists at each item: in a forward the blocks so
/// far, in a backward the blocks that are not done, in an update none.
class StepParameters {
 public:
  StepParameters(const step::StepProgram& program, const step::Sequence& sequence);

  /// Returns the share at the peak of the next item, `item`.
  double during(const step::Item& item);
  /// Frees the parameters of a backward's item after it is done.
  void finish(const step::Item& item);

 private:
  [[nodiscard]] double own_elements(const step::Item& item) const;

  const step::StepProgram& program_;
  bool comes_ = false;  ///< True if the sequence is a forward.
  double all_ = 0;      ///< Elements of all blocks of the sequence.
  double share_ = 0;
};

/// True if each micro-batch ends its backward before the forward of the next one (one stage, one
/// chunk), so that parameters gathered for a step are gathered and freed with it.
bool alternates_micro_batches(const step::StepProgram& program, const step::Stage& stage);

/// Gradients that the first backward of each chunk of a stage allocates.
struct FreshChunks {
  /// Bytes of gradients that the first backward of each chunk allocates.
  std::vector<double> bytes;
  std::int32_t whole_chunk = -1;  ///< Chunk whose backward is not split; -1: none.
};

/// Returns the gradients that first backwards allocate. `whole_first_stage`: the backward of the
/// model's first chunk is not split.
FreshChunks fresh_chunks(const step::StepProgram& program, const step::Stage& stage,
                         bool whole_first_stage);

/// Counts the idle chunks of a stage: those for which no micro-batch is between its forward and the
/// end of its backward, so that their modules still hold tensors that the program does not keep.
class IdleChunks {
 public:
  explicit IdleChunks(const step::Stage& stage) : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// Returns the number of idle chunks during a slot.
  std::int64_t during(const step::Slot& slot);

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const step::Stage& stage_;
  std::vector<std::int64_t> in_flight_;
};

}  // namespace stepwright::memory
