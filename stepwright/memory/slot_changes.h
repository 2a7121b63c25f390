#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::memory {

/// The stream of a template that runs beside the compute stream; nullopt of any other.
std::optional<step::Stream> own_stream(const step::Template& piece);

/// True if a template sends a copy of the gradients that it takes.
bool sends_copy(const step::Template& piece);

/// True if a template copies parameters out of what its gather makes, which is its last output.
bool copies_gathered(const step::Template& piece);

/// The item of a backward that begins with the loss, or with what a forward has made of it; -1
/// where there is none, and in any other sequence.
std::int32_t head_item(const step::StepProgram& program, const step::Sequence& sequence);

/// Whether a sequence ends the backward of its micro-batch.
bool makes_gradients(const step::Sequence& sequence);

/// The share of a sequence's gradients that is there, item by item: those that are reduced from
/// their reduction on, or once it is done where a layer's sends a copy, whose gradients go first
/// (of a table the only one stays: pytorch/pytorch 2.13 torch/distributed/fsdp/_fully_shard/
/// _fsdp_collectives.py, foreach_reduce); all others once their item is done.
class MadeGradients {
 public:
  MadeGradients(const step::StepProgram& program, const step::Sequence& sequence);

  /// The share at the largest moment of the next item.
  double during(const step::Item& item);
  /// Ends that item, and returns the share behind it.
  double finish(const step::Item& item);

 private:
  [[nodiscard]] const step::Template& piece(const step::Item& item) const {
    return program_.templates[static_cast<std::size_t>(item.which)];
  }
  [[nodiscard]] bool comes_behind(const step::Item& item) const;

  const step::StepProgram& program_;
  double reduced_ = 0;  ///< Elements that items leave behind reductions.
  double all_ = 0;      ///< Elements whose gradients items make.
  double share_ = 0;
};

/// The share of parameters gathered for a step that is there, item by item: in a forward those of
/// the blocks so far, in a backward those of the blocks that are not done, in an update none.
class StepParameters {
 public:
  StepParameters(const step::StepProgram& program, const step::Sequence& sequence);

  /// The share at the largest moment of the next item.
  double during(const step::Item& item);
  /// Lets go of the parameters of a backward's item, which is done.
  void finish(const step::Item& item);

 private:
  [[nodiscard]] double own_elements(const step::Item& item) const;

  const step::StepProgram& program_;
  bool comes_ = false;  ///< The sequence is a forward.
  double all_ = 0;      ///< Elements of its blocks.
  double share_ = 0;
};

/// True if each micro-batch of a stage ends its backward before the forward of the next one, so
/// that parameters gathered for a step come and go with it.
bool takes_turns(const step::StepProgram& program, const step::Stage& stage);

/// Gradients that the first backward of each chunk of a stage makes.
struct FreshChunks {
  std::vector<double> bytes;      ///< Bytes of each chunk.
  std::int32_t whole_chunk = -1;  ///< The chunk whose backward is not cut; -1: none.
};

/// `whole_first_stage`: the backward of the model's first chunk is not cut.
FreshChunks fresh_chunks(const step::StepProgram& program, const step::Stage& stage,
                         bool whole_first_stage);

/// The chunks of a stage of which no micro-batch is between its forward and the end of its
/// backward: their modules still hold what the program does not keep.
class IdleChunks {
 public:
  explicit IdleChunks(const step::Stage& stage) : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// The number of idle chunks during a slot.
  std::int64_t during(const step::Slot& slot);

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const step::Stage& stage_;
  std::vector<std::int64_t> in_flight_;
};

}  // namespace stepwright::memory
