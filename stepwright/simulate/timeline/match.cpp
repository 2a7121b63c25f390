#include "stepwright/simulate/timeline/match.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"

namespace stepwright::simulate {
namespace {

/// One end (send or receive) of a message of the schedule.
struct End {
  /// Key that both ends of a message share; -1: the message goes beyond the first or last chunk.
  std::int32_t key = -1;
  std::int32_t stage = 0;
  std::int32_t slot = 0;
  /// Index in `FlatPricedProgram::sends` or `FlatPricedProgram::receives`.
  std::int32_t message = 0;
  std::int32_t index = 0;  ///< Index among the stage's messages of this direction.
};

class Matcher {
 public:
  Matcher(const step::StepProgram& program, const FlatPricedProgram& score)
      : program_(program), score_(score) {
    chunks_ = static_cast<std::int32_t>(program.placement.model_chunk_count());
    for (const step::PipelineStageProgram& stage : program.stages) {
      for (const step::PipelineScheduleSlot& slot : stage.schedule) {
        micro_batches_ = std::max({micro_batches_, slot.micro_batch + 1, slot.beside + 1});
      }
    }
  }

  SendReceiveMatching run() {
    const std::size_t stages = program_.stages.size();
    matching_.targets.resize(stages);
    matching_.receives.resize(stages);
    for (std::size_t s = 0; s < stages; ++s) collect(static_cast<std::int32_t>(s));
    sort_receives();
    join();
    return std::move(matching_);
  }

 private:
  /// Lists the sends and receives of a stage in the order of its schedule.
  void collect(std::int32_t index) {
    const step::PipelineStageProgram& stage = program_.stages[index];
    std::int32_t sends = 0;
    std::int32_t receives = 0;
    for (std::size_t i = 0; i < stage.schedule.size(); ++i) {
      const step::PipelineScheduleSlot& slot = stage.schedule[i];
      const TemplateSequenceTasks& track = score_.tracks[track_of(index, slot.sequence)];
      const auto number = static_cast<std::int32_t>(i);
      for (std::int32_t m = track.first_receive; m < track.first_receive + track.receives; ++m) {
        const MessageEnd& end = score_.receives[m];
        const std::size_t strand = merged_micro_batch_of(stage, slot, end);
        const std::int32_t chunk = model_chunk_index(stage, slot, strand);
        const std::int32_t micro_batch = slot.micro_batch_of(strand);
        receives_.push_back({key(end.backward, chunk, micro_batch), index, number, m, receives++});
      }
      for (std::int32_t m = track.first_send; m < track.first_send + track.sends; ++m) {
        const MessageEnd& end = score_.sends[m];
        const std::size_t strand = merged_micro_batch_of(stage, slot, end);
        const std::int32_t chunk = model_chunk_index(stage, slot, strand);
        const std::int32_t to = end.backward ? chunk - 1 : chunk + 1;
        const std::int32_t micro_batch = slot.micro_batch_of(strand);
        sends_.push_back({key(end.backward, to, micro_batch), index, number, m, sends++});
      }
    }
    matching_.targets[index].resize(static_cast<std::size_t>(sends));
    matching_.receives[index] = receives;
  }

  [[nodiscard]] std::size_t track_of(std::int32_t stage, std::int32_t sequence) const {
    return static_cast<std::size_t>(score_.track_of[stage][sequence]);
  }

  [[nodiscard]] const step::Operator& operator_of(const step::TemplateSequenceItem& item,
                                                  const MessageEnd& end) const {
    return program_.templates[item.which].operators[end.operation];
  }

  /// Returns the strand of its slot to which a message belongs.
  [[nodiscard]] std::size_t merged_micro_batch_of(const step::PipelineStageProgram& stage,
                                                  const step::PipelineScheduleSlot& slot,
                                                  const MessageEnd& end) const {
    const step::TemplateSequenceItem& item = stage.sequences[slot.sequence].items[end.item];
    return item.merged_micro_batch_index_of_operator(operator_of(item, end));
  }

  [[nodiscard]] std::int32_t model_chunk_index(const step::PipelineStageProgram& stage,
                                               const step::PipelineScheduleSlot& slot,
                                               std::size_t strand) const {
    const step::TemplateSequence& sequence = stage.sequences[slot.sequence];
    return static_cast<std::int32_t>(
        program_.placement.model_chunk_index({stage.position, sequence.chunk_of(strand)}));
  }

  /// Returns one number for direction, receiving chunk and micro-batch; -1: beyond the first or
  /// last chunk.
  [[nodiscard]] std::int32_t key(bool backward, std::int32_t to, std::int32_t micro_batch) const {
    if (to < 0 || to >= chunks_) return -1;
    return ((backward ? chunks_ : 0) + to) * (micro_batches_ + 1) + micro_batch + 1;
  }

  /// Groups the receives by key, each group in the order of the schedule.
  void sort_receives() {
    const std::size_t keys = std::size_t{2} * chunks_ * (micro_batches_ + 1);
    first_.assign(keys + 1, 0);
    for (const End& end : receives_) ++first_[static_cast<std::size_t>(end.key) + 1];
    for (std::size_t k = 0; k < keys; ++k) first_[k + 1] += first_[k];
    next_ = first_;
    by_key_.resize(receives_.size());
    for (std::size_t r = 0; r < receives_.size(); ++r) {
      by_key_[next_[receives_[r].key]++] = static_cast<std::int32_t>(r);
    }
    next_ = first_;
  }

  void join() {
    for (const End& send : sends_) {
      const auto k = static_cast<std::size_t>(std::max(send.key, 0));
      if (send.key < 0 || next_[k] == first_[k + 1]) fail(send, score_.sends, "is not received");
      const End& receive = receives_[by_key_[next_[k]++]];
      matching_.targets[send.stage][send.index] = {receive.stage, receive.index};
    }
    for (std::size_t k = 0; k + 1 < first_.size(); ++k) {
      if (next_[k] == first_[k + 1]) continue;
      fail(receives_[by_key_[next_[k]]], score_.receives, "is never sent");
    }
  }

  [[noreturn]] void fail(const End& end, const std::vector<MessageEnd>& messages,
                         const char* what) const {
    const MessageEnd& message = messages[end.message];
    const step::PipelineStageProgram& stage = program_.stages[end.stage];
    const step::PipelineScheduleSlot& slot = stage.schedule[end.slot];
    const step::TemplateSequence& sequence = stage.sequences[slot.sequence];
    const step::TemplateSequenceItem& item = sequence.items[message.item];
    const step::Operator& op = operator_of(item, message);
    throw Error(
        ErrorKind::kRuntime,
        fmt::format("stage {}, slot {} ({}, micro-batch {}): the message of operator "
                    "\"{}\" {}",
                    end.stage, end.slot, name_of(schedule::kDirectionNames, sequence.direction),
                    slot.micro_batch, op.name, what));
  }

  const step::StepProgram& program_;
  const FlatPricedProgram& score_;
  std::int32_t chunks_ = 0;
  std::int32_t micro_batches_ = 0;
  SendReceiveMatching matching_;
  std::vector<End> sends_;
  std::vector<End> receives_;
  std::vector<std::int32_t> by_key_;  ///< Indices into `receives_`, grouped by key.
  std::vector<std::int32_t> first_;  ///< For each key, the index of its first receive in `by_key_`.
  std::vector<std::int32_t> next_;
};

}  // namespace

SendReceiveMatching match_sends_to_receives(const step::StepProgram& program,
                                            const FlatPricedProgram& score) {
  return Matcher(program, score).run();
}

}  // namespace stepwright::simulate
