#include "stepwright/memory/allocations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "stepwright/memory/allocated.h"
#include "stepwright/memory/held.h"
#include "stepwright/memory/slot_changes.h"

namespace stepwright::memory {
namespace {

/// Allocated blocks, each with a count of its holders.
class HeldBlocks {
 public:
  explicit HeldBlocks(const PredictedAllocationCallbacks& taker) : taker_(taker) {}

  /// Allocates a block and returns its number; -1 if it has no bytes.
  std::int64_t allocate(const PredictedAllocation& block) {
    if (block.bytes <= 0) return -1;
    std::int64_t number = std::ssize(holders_);
    if (free_.empty()) {
      holders_.push_back(1);
    } else {
      number = free_.back();
      free_.pop_back();
      holders_[static_cast<std::size_t>(number)] = 1;
    }
    taker_.allocate(number, block);
    return number;
  }
  void hold(std::int64_t number) {
    if (number >= 0) ++holders_[static_cast<std::size_t>(number)];
  }
  void release(std::int64_t number) {
    if (number < 0 || --holders_[static_cast<std::size_t>(number)] > 0) return;
    taker_.free(number);
    free_.push_back(number);
  }

 private:
  const PredictedAllocationCallbacks& taker_;
  std::vector<std::int64_t> holders_;
  std::vector<std::int64_t> free_;
};

/// Facts of a template's tensors: the end of each tensor's life, and the layer part that allocates
/// it.
struct TensorFacts {
  std::vector<TensorLifetime> lives;
  std::vector<step::LayerPart> makers;
  std::optional<step::DeviceStream> stream;
};

TensorFacts facts_of(const step::OperatorTemplate& piece) {
  TensorFacts facts{.lives = tensor_lifetimes(piece),
                    .makers = std::vector<step::LayerPart>(piece.tensors.size()),
                    .stream = communication_stream_of_template(piece)};
  std::vector<char> made(piece.tensors.size());
  for (const step::Operator& op : piece.operators) {
    for (const step::TensorId id : piece.writes(op)) {
      if (std::exchange(made[static_cast<std::size_t>(id)], 1) == 0) {
        facts.makers[static_cast<std::size_t>(id)] = op.part;
      }
    }
  }
  return facts;
}

/// Walks the tensors of a stage's sequences. A tensor is one block from its first writer to its
/// last holder: an item that passes it on or reads it, the saved tensors of a backward, or a stream
/// whose next item has not started.
class TensorWalk {
 public:
  TensorWalk(const step::StepProgram& program, HeldBlocks& blocks, bool late_gathers)
      : program_(program), blocks_(blocks), late_gathers_(late_gathers) {
    for (const step::OperatorTemplate& piece : program.templates) facts_.push_back(facts_of(piece));
  }

  /// Walks a sequence; calls `before` and `after` around each item.
  void run(const step::TemplateSequence& sequence, const step::PipelineScheduleSlot& slot,
           const std::function<void(const step::TemplateSequenceItem&)>& before,
           const std::function<void(const step::TemplateSequenceItem&)>& after) {
    const std::size_t count = sequence.items.size();
    made_.assign(count, {});
    taken_.clear();
    for (const step::TemplateSequenceItem& item : sequence.items) {
      for (const step::OperatorTemplateInputSource& source : item.inputs)
        taken_.insert({source.item, source.output});
    }
    const std::vector<std::vector<Output>> ahead = outputs_ahead(sequence);
    for (std::size_t at = 0; at < count; ++at) {
      const step::TemplateSequenceItem& item = sequence.items[at];
      std::vector<std::int64_t> gathered;
      if (const auto stream = facts(item).stream) gathered = release_held(*stream);
      for (const auto& [maker, id] : ahead[at]) {
        made_[maker][id] = make(sequence.items[maker], id);
      }
      before(item);
      run_item(sequence, at, slot);
      release(gathered);
      after(item);
    }
    while (!held_.empty()) release(release_held(held_.begin()->first));
    for (const auto& outputs : made_) {
      for (const auto& [id, number] : outputs) blocks_.release(number);
    }
  }

 private:
  using Numbers = std::map<step::TensorId, std::int64_t>;
  using Kept = std::vector<std::vector<std::int64_t>>;
  /// An item, and the id of one of its tensors.
  using Output = std::pair<std::size_t, step::TensorId>;

  [[nodiscard]] const step::OperatorTemplate& piece(const step::TemplateSequenceItem& item) const {
    return program_.templates[static_cast<std::size_t>(item.which)];
  }
  [[nodiscard]] const TensorFacts& facts(const step::TemplateSequenceItem& item) const {
    return facts_[static_cast<std::size_t>(item.which)];
  }

  /// Returns the outputs of items that run beside the compute stream, by the first position at
  /// which each may be allocated.
  [[nodiscard]] std::vector<std::vector<Output>> outputs_ahead(
      const step::TemplateSequence& sequence) const {
    const std::int32_t head = late_gathers_ ? loss_or_head_item_index(program_, sequence) : -1;
    std::set<std::pair<std::int32_t, std::int32_t>> late;
    for (std::int32_t taker = head + 1; head >= 0 && taker < std::ssize(sequence.items); ++taker) {
      for (const step::OperatorTemplateInputSource& source :
           sequence.items[static_cast<std::size_t>(taker)].inputs) {
        late.insert({source.item, source.output});
      }
    }
    std::vector<std::vector<Output>> ahead(sequence.items.size());
    for (std::size_t maker = 0; maker < ahead.size(); ++maker) {
      const step::TemplateSequenceItem& item = sequence.items[maker];
      if (!facts(item).stream || copies_gathered_parameters(piece(item))) continue;
      std::int32_t start = 0;
      for (const std::int32_t other : item.after) start = std::max(start, other + 1);
      const std::vector<step::TensorId>& outputs = piece(item).outputs;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const bool waits = late.contains({static_cast<std::int32_t>(maker), static_cast<int>(i)});
        const std::int32_t from = waits ? std::max(start, head + 1) : start;
        auto position = std::min(static_cast<std::size_t>(from), maker);
        while (position < maker &&
               reduces_gradients_from_input_copy(piece(sequence.items[position])))
          ++position;
        ahead[position].emplace_back(maker, outputs[i]);
      }
    }
    return ahead;
  }

  std::int64_t make(const step::TemplateSequenceItem& item, step::TensorId id) {
    const step::TemplateTensor& tensor = piece(item).tensors[static_cast<std::size_t>(id)];
    const double bytes = max_tensor_bytes_over_ranks(tensor, program_.imbalance);
    const step::LayerPart part = facts(item).makers[static_cast<std::size_t>(id)];
    return blocks_.allocate(
        {.kind = kMemoryKindsByTensorKind[static_cast<std::size_t>(tensor.kind)],
         .bytes = static_cast<std::int64_t>(bytes),
         .unit = item.units.empty() ? kNoModelBlock : item.units.front(),
         .part = name_of(step::kLayerPartNames, part),
         .tensor = tensor.name});
  }
  void make_missing(const step::TemplateSequenceItem& item, step::TensorId id, Numbers& here) {
    if (!here.contains(id)) here[id] = make(item, id);
  }

  /// Returns the tensors that a block keeps for a strand's micro-batch. Tensors passed between
  /// chunks of one position have one key for both chunks.
  Kept& kept_of(const step::TemplateSequence& sequence, const step::PipelineScheduleSlot& slot,
                std::int32_t unit, std::size_t strand) {
    const std::int32_t chunk =
        unit == step::kResidualToNextChunkNumber ? 0 : sequence.chunk_of(strand);
    return kept_[{chunk, slot.micro_batch_of(strand), unit}];
  }

  void run_item(const step::TemplateSequence& sequence, std::size_t at,
                const step::PipelineScheduleSlot& slot) {
    const step::TemplateSequenceItem& item = sequence.items[at];
    const step::OperatorTemplate& what = piece(item);
    const std::size_t back = item.beside_layer >= 0 ? 1 : item.strand;
    const bool none = item.units.empty();
    Kept& last = kept_of(sequence, slot, none ? kNoModelBlock : item.units.back(), back);
    Kept& saved = kept_of(sequence, slot, none ? kNoModelBlock : item.units.front(), item.strand);
    Numbers here = made_[at];
    restore(what, last, here);
    take_inputs(sequence, at, here);
    run_operators(item, here);
    const std::span<const step::TensorId> all(what.saved);
    const auto beside = static_cast<std::size_t>(what.saved_beside);
    keep(all.first(all.size() - beside), saved, here);
    keep(all.last(beside), last, here);
    hand_on(item, at, here);
    for (const auto& [id, number] : here) blocks_.release(number);
  }

  /// Holds an item's outputs for the items that read them. A copy that is sent, or a gather's
  /// buffer that no item reads, stays until the next item of its stream starts.
  void hand_on(const step::TemplateSequenceItem& item, std::size_t at, const Numbers& here) {
    const step::OperatorTemplate& what = piece(item);
    const auto stream = facts(item).stream;
    for (std::size_t i = 0; i < what.outputs.size(); ++i) {
      const step::TensorId id = what.outputs[i];
      const bool taken =
          taken_.contains({static_cast<std::int32_t>(at), static_cast<std::int32_t>(i)});
      made_[at].erase(id);
      if (!taken && (reduces_gradients_from_input_copy(what) || copies_gathered_parameters(what))) {
        if (!stream) continue;
        held_[*stream].push_back({here.at(id), copies_gathered_parameters(what)});
      } else {
        made_[at][id] = here.at(id);
      }
      blocks_.hold(here.at(id));
    }
  }

  void restore(const step::OperatorTemplate& what, Kept& kept, Numbers& here) {
    if (what.restored.empty() || kept.empty()) return;
    for (std::size_t i = 0; i < std::min(what.restored.size(), kept.back().size()); ++i) {
      here[what.restored[i]] = kept.back()[i];
    }
    kept.pop_back();
  }

  void take_inputs(const step::TemplateSequence& sequence, std::size_t at, Numbers& here) {
    const step::TemplateSequenceItem& item = sequence.items[at];
    const step::OperatorTemplate& what = piece(item);
    const auto stream = facts(item).stream;
    for (std::size_t i = 0; i < std::min(what.inputs.size(), item.inputs.size()); ++i) {
      const step::OperatorTemplateInputSource& source = item.inputs[i];
      if (source.item < 0) continue;  // The operator that first touches the tensor allocates it.
      const auto from = static_cast<std::size_t>(source.item);
      const step::TensorId output =
          piece(sequence.items[from]).outputs[static_cast<std::size_t>(source.output)];
      const auto found = made_[from].find(output);
      if (found == made_[from].end()) continue;
      here[what.inputs[i]] = found->second;
      made_[from].erase(found);
      if (!stream || reduces_gradients_from_input_copy(what)) continue;
      blocks_.hold(here[what.inputs[i]]);
      held_[*stream].push_back({here[what.inputs[i]], false});
    }
    for (const step::TensorId id : what.inputs) make_missing(item, id, here);
  }

  void run_operators(const step::TemplateSequenceItem& item, Numbers& here) {
    const step::OperatorTemplate& what = piece(item);
    const std::vector<TensorLifetime>& lives = facts(item).lives;
    const auto stays = [&](step::TensorId id) { return lives[static_cast<std::size_t>(id)].kept; };
    const auto make_unnamed = [&](std::span<const step::TensorId> ids) {
      for (const step::TensorId id : ids) {
        if (lives[static_cast<std::size_t>(id)].last < 0) make_missing(item, id, here);
      }
    };
    make_unnamed(what.outputs);
    make_unnamed(what.saved);
    for (std::size_t i = 0; i < what.operators.size(); ++i) {
      const step::Operator& op = what.operators[i];
      for (const step::TensorId id : what.reads(op)) make_missing(item, id, here);
      for (const step::TensorId id : what.writes(op)) make_missing(item, id, here);
      const auto free_after = [&](std::span<const step::TensorId> ids) {
        for (const step::TensorId id : ids) {
          const auto found = here.find(id);
          if (found == here.end() || stays(id)) continue;
          if (lives[static_cast<std::size_t>(id)].last != static_cast<std::int32_t>(i)) continue;
          blocks_.release(found->second);
          here.erase(found);
        }
      };
      free_after(what.reads(op));
      free_after(what.writes(op));
    }
  }

  void keep(std::span<const step::TensorId> ids, Kept& kept, const Numbers& here) {
    if (ids.empty()) return;
    kept.emplace_back();
    for (const step::TensorId id : ids) {
      blocks_.hold(here.at(id));
      kept.back().push_back(here.at(id));
    }
  }

  void release(const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) blocks_.release(number);
  }

  /// Releases the tensors that a stream holds, except the buffers of gathers, which it returns:
  /// these stay until the stream's next item is done.
  std::vector<std::int64_t> release_held(step::DeviceStream stream) {
    std::vector<std::int64_t> gathered;
    for (const Held& held : held_[stream]) {
      if (held.gathered) {
        gathered.push_back(held.number);
      } else {
        blocks_.release(held.number);
      }
    }
    held_.erase(stream);
    return gathered;
  }

  const step::StepProgram& program_;
  HeldBlocks& blocks_;
  bool late_gathers_;
  std::vector<TensorFacts> facts_;  ///< For each template, the facts of its tensors.
  std::vector<Numbers> made_;       ///< For each item: outputs that no other item has read yet.
  /// Outputs that another item reads: the item that writes and the index of its output.
  std::set<std::pair<std::int32_t, std::int32_t>> taken_;
  /// Input tensors that the last item of an overlapped stream still holds.
  struct Held {
    std::int64_t number = -1;
    /// True if it is the buffer of a gather whose parameters are copied out.
    bool gathered = false;
  };
  std::map<step::DeviceStream, std::vector<Held>> held_;
  /// Kept tensors by chunk, micro-batch and block.
  std::map<std::array<std::int32_t, 3>, Kept> kept_;
};

/// A parameter of a stage, and the block that owns it.
struct OwnedParameter {
  std::int32_t unit = kNoModelBlock;
  const step::RankLocalParameter* parameter = nullptr;
};

std::vector<OwnedParameter> owned_parameters(const step::StepProgram& program,
                                             const step::PipelineStageProgram& stage) {
  std::vector<OwnedParameter> owned;
  std::set<std::pair<std::int32_t, std::string_view>> seen;
  for (const step::TemplateSequence& sequence : stage.sequences) {
    for (const step::TemplateSequenceItem& item : sequence.items) {
      const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      if (item.units.empty()) continue;
      for (const step::RankLocalParameter& parameter : piece.parameters) {
        if (parameter.borrowed || !seen.insert({item.units.front(), parameter.name}).second) {
          continue;
        }
        owned.push_back({item.units.front(), &parameter});
      }
    }
  }
  std::ranges::stable_sort(owned, {}, &OwnedParameter::unit);
  return owned;
}

/// Allocates the bytes of a model state parameter by parameter, in proportion to their elements; as
/// one block if the stage lists no parameters.
class StateBlocks {
 public:
  StateBlocks(const step::StepProgram& program, const step::PipelineStageProgram& stage,
              HeldBlocks& blocks)
      : owned_(owned_parameters(program, stage)), blocks_(blocks) {}

  void allocate(MemoryKind kind, std::string_view name, std::int64_t bytes, bool trained) const {
    double all = 0, so_far = 0;
    for (const OwnedParameter& owned : owned_) all += elements(owned, trained);
    if (all == 0) {
      blocks_.allocate({.kind = kind, .bytes = bytes, .tensor = name});
      return;
    }
    std::int64_t given = 0;
    for (const OwnedParameter& owned : owned_) {
      so_far += elements(owned, trained);
      const auto until =
          static_cast<std::int64_t>(std::llround(static_cast<double>(bytes) * (so_far / all)));
      blocks_.allocate({.kind = kind,
                        .bytes = until - given,
                        .unit = owned.unit,
                        .part = owned.parameter->name,
                        .tensor = name});
      given = until;
    }
  }

  /// Elements of trained parameters, before they are sharded.
  [[nodiscard]] double trained_elements() const {
    double sum = 0;
    for (const OwnedParameter& owned : owned_) sum += elements(owned, true);
    return sum;
  }

 private:
  static double elements(const OwnedParameter& owned, bool trained) {
    if (trained && owned.parameter->frozen) return 0;
    return static_cast<double>(owned.parameter->elements());
  }

  std::vector<OwnedParameter> owned_;
  HeldBlocks& blocks_;
};

/// Returns the number of fp32 values that an optimizer keeps for each parameter that it updates:
/// moments and a master copy; 1 if that is not a whole number.
std::int64_t optimizer_copies(const step::StepProgram& program,
                              const step::PipelineStageProgram& stage, double trained) {
  if (trained == 0) return 1;
  const auto ranks =
      program.group_sizes[static_cast<std::size_t>(plan::CommunicatorKind::kDataContext)];
  const double copies = static_cast<double>(stage.states.optimizer) / (4 * trained);
  for (const double scaled : {copies, copies * static_cast<double>(ranks)}) {
    const double whole = std::round(scaled);
    if (whole >= 1 && whole <= 4 && std::abs(scaled - whole) < 0.01 * whole) {
      return static_cast<std::int64_t>(whole);
    }
  }
  return 1;
}

/// Walks a step of one pipeline position.
class StageWalk {
 public:
  StageWalk(const plan::Job& job, const step::StepProgram& program,
            const step::PipelineStageProgram& stage, const PredictedAllocationCallbacks& taker)
      : program_(program),
        stage_(stage),
        taker_(taker),
        blocks_(taker),
        held_(framework_held_bytes(job, program, stage)),
        tensors_(program, blocks_, held_.fresh_gradients),
        fresh_(first_backward_gradient_bytes(program, stage, held_.whole_first_stage)),
        there_(stage.chunks.size()),
        step_parameters_(held_.fresh_gradients && runs_one_micro_batch_at_a_time(program, stage)
                             ? stage.states.for_step
                             : 0),
        after_step_(pytorch_allocated_memory(job, program)[static_cast<std::size_t>(stage.position)]
                        .after_step_bytes) {}

  void run() {
    states();
    std::vector<std::int64_t> between;
    if (!held_.fresh_gradients) {
      between.push_back(hold(held_.between_steps, "wide gradients"));
      keep_inputs(std::ssize(stage_.chunks));
    }
    taker_.begin_step();
    for (const std::int64_t number : between) blocks_.release(number);
    const std::int64_t batch = hold(held_.in_passes, "batch");
    IdleModelChunkCounter idle(stage_);
    for (const step::PipelineScheduleSlot& slot : stage_.schedule) {
      if (held_.fresh_gradients) {
        run_fresh(slot);
      } else {
        keep_inputs(idle.idle_chunks_during_slot(slot));
        run_slot(slot, false);
      }
    }
    blocks_.release(batch);
    end_step();
  }

 private:
  std::int64_t hold(double bytes, std::string_view name) {
    return blocks_.allocate({.kind = MemoryKind::kReserve,
                             .bytes = static_cast<std::int64_t>(std::ceil(bytes)),
                             .tensor = name});
  }

  void states() {
    const step::RankModelStateBytes& states = stage_.states;
    const StateBlocks all(program_, stage_, blocks_);
    all.allocate(MemoryKind::kParameters, "parameter", states.parameters - step_parameters_, false);
    if (!held_.fresh_gradients) {
      all.allocate(MemoryKind::kGradients, "gradient", states.gradients, true);
    }
    const std::int64_t copies = optimizer_copies(program_, stage_, all.trained_elements());
    for (std::int64_t i = 0; i < copies; ++i) {
      const std::int64_t bytes =
          states.optimizer * (i + 1) / copies - states.optimizer * i / copies;
      all.allocate(MemoryKind::kOptimizer, "optimizer state", bytes, true);
    }
    hold(static_cast<double>(states.others.bytes()), "states of other models");
    hold(held_.always, "workspaces");
  }

  void keep_inputs(std::int64_t chunks) {
    while (std::ssize(inputs_) > chunks) {
      blocks_.release(inputs_.back());
      inputs_.pop_back();
    }
    while (std::ssize(inputs_) < chunks) {
      inputs_.push_back(hold(2 * held_.stage_input, "last input of a chunk and its gradient"));
    }
  }

  void run_slot(const step::PipelineScheduleSlot& slot, bool makes) {
    const step::TemplateSequence& sequence =
        stage_.sequences[static_cast<std::size_t>(slot.sequence)];
    const double bytes = makes ? fresh_.bytes[static_cast<std::size_t>(sequence.chunk)] : 0;
    std::optional<AllocatedGradientShare> made;
    std::optional<GatheredParameterShare> parameters;
    if (step_parameters_ > 0) parameters.emplace(program_, sequence);
    if (bytes > 0) made.emplace(program_, sequence);
    std::int64_t given = 0;
    const auto give = [&](const step::TemplateSequenceItem& item, double share) {
      const auto until = static_cast<std::int64_t>(std::ceil(bytes * std::min(share, 1.0)));
      if (until <= given) return;
      gradients_.push_back(
          blocks_.allocate({.kind = MemoryKind::kGradients,
                            .bytes = until - given,
                            .unit = item.units.empty() ? kNoModelBlock : item.units.front(),
                            .tensor = "gradient"}));
      given = until;
    };
    tensors_.run(
        sequence, slot,
        [&](const step::TemplateSequenceItem& item) {
          if (made) give(item, made->memory_share_at_sequence_item_peak(item));
          if (parameters)
            gather_for_step(item, parameters->memory_share_at_sequence_item_peak(item));
        },
        [&](const step::TemplateSequenceItem& item) {
          if (made) give(item, made->finish(item));
          if (parameters) parameters->finish(item);
          if (sequence.direction != schedule::Direction::kForward) drop_gathered(item);
        });
    if (made) give({}, 1);
    if (parameters && sequence.direction != schedule::Direction::kForward) drop_all_gathered();
  }

  /// Frees the parameters of blocks that have no backward.
  void drop_all_gathered() {
    for (const Gathered& block : gathered_) blocks_.release(block.number);
    gathered_.clear();
  }

  /// Allocates the gathered parameters of a block in a forward; `share`: the share of the step's
  /// parameters that are gathered with it.
  void gather_for_step(const step::TemplateSequenceItem& item, double share) {
    std::int64_t there = 0;
    for (const Gathered& block : gathered_) there += block.bytes;
    const auto until = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(step_parameters_) * std::min(share, 1.0)));
    if (until <= there) return;
    const std::int32_t unit = item.units.empty() ? kNoModelBlock : item.units.front();
    const std::int64_t number = blocks_.allocate({.kind = MemoryKind::kParameters,
                                                  .bytes = until - there,
                                                  .unit = unit,
                                                  .tensor = "gathered parameter"});
    gathered_.push_back({unit, number, until - there});
  }

  /// Frees the gathered parameters of a block whose backward is done.
  void drop_gathered(const step::TemplateSequenceItem& item) {
    if (item.units.empty() || communication_stream_of_template(
                                  program_.templates[static_cast<std::size_t>(item.which)])) {
      return;
    }
    std::erase_if(gathered_, [&](const Gathered& block) {
      if (block.unit != item.units.front()) return false;
      blocks_.release(block.number);
      return true;
    });
  }

  void run_fresh(const step::PipelineScheduleSlot& slot) {
    const step::TemplateSequence& sequence =
        stage_.sequences[static_cast<std::size_t>(slot.sequence)];
    const bool whole = sequence.chunk == fresh_.whole_chunk;
    if (whole && sequence.direction == schedule::Direction::kDataGradient) {
      return waiting_.push_back(slot);
    }
    if (whole && sequence.direction == schedule::Direction::kWeightGradient && !waiting_.empty()) {
      const step::PipelineScheduleSlot data = waiting_.front();
      waiting_.pop_front();
      run_slot(data, false);
    }
    char& there = there_[static_cast<std::size_t>(sequence.chunk)];
    const bool makes = computes_weight_gradients(sequence) && there == 0;
    if (makes) there = 1;
    run_slot(slot, makes);
  }

  void end_step() {
    if (!held_.fresh_gradients) {
      keep_inputs(std::ssize(stage_.chunks));
      hold(held_.between_steps, "wide gradients");
      return;
    }
    for (const std::int64_t number : gradients_) blocks_.release(number);
    const step::RankModelStateBytes& states = stage_.states;
    hold(after_step_ - held_.always -
             static_cast<double>(states.parameters - step_parameters_ + states.optimizer +
                                 states.others.bytes()),
         "what stays after a step");
  }

  const step::StepProgram& program_;
  const step::PipelineStageProgram& stage_;
  const PredictedAllocationCallbacks& taker_;
  HeldBlocks blocks_;
  FrameworkHeldBytes held_;
  TensorWalk tensors_;
  ModelChunkGradientBytes fresh_;
  std::vector<char> there_;  ///< For each chunk: true if its gradients are allocated.
  /// Data-gradient slots of the unsplit chunk that wait for their weight gradients.
  std::deque<step::PipelineScheduleSlot> waiting_;
  /// Memory blocks of the gradients that the first backward allocates.
  std::vector<std::int64_t> gradients_;
  std::vector<std::int64_t> inputs_;  ///< Memory blocks of the last inputs that idle chunks keep.
  struct Gathered {
    std::int32_t unit = kNoModelBlock;
    std::int64_t number = -1;
    std::int64_t bytes = 0;
  };
  std::vector<Gathered> gathered_;    ///< Parameters that are gathered for the step now.
  std::int64_t step_parameters_ = 0;  ///< Bytes of all parameters gathered for a step.
  double after_step_;
};

}  // namespace

std::string allocation_name(const PredictedAllocation& block) {
  if (block.part.empty() || block.part == block.tensor) return std::string(block.tensor);
  return fmt::format("{}: {}", block.part, block.tensor);
}

std::string model_block_name(std::int32_t unit) {
  if (unit == kNoModelBlock) return {};
  if (unit == step::kEmbeddingBlockNumber) return "embedding";
  if (unit == step::kHeadBlockNumber) return "head";
  return fmt::format("layer {}", unit);
}

void visit_predicted_allocations(const plan::Job& job, const step::StepProgram& program,
                                 const step::PipelineStageProgram& stage,
                                 const PredictedAllocationCallbacks& taker) {
  StageWalk(job, program, stage, taker).run();
}

}  // namespace stepwright::memory
