#include "stepwright/runtime/execute/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/memory/lifetimes.h"

namespace stepwright::runtime {
namespace {

void append(std::vector<StreamTicket>& to, const std::vector<StreamTicket>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Returns the strand of the saved tensors that an item restores; for a pair, that of its backward.
std::size_t last_strand(const step::TemplateSequenceItem& item) {
  return item.beside_layer >= 0 ? 1 : item.strand;
}

std::vector<std::vector<step::TensorId>> dying_after(const step::OperatorTemplate& piece) {
  const std::vector<memory::TensorLifetime> lives = memory::tensor_lifetimes(piece);
  std::vector<std::vector<step::TensorId>> dying(piece.operators.size());
  for (std::size_t id = 0; id < lives.size(); ++id) {
    if (lives[id].kept || lives[id].last < 0) continue;
    dying[static_cast<std::size_t>(lives[id].last)].push_back(static_cast<step::TensorId>(id));
  }
  return dying;
}

}  // namespace

StageStepExecutor::StageStepExecutor(const step::StepProgram& program,
                                     const step::PipelineStageProgram& stage,
                                     OperatorRunner& performer, RankStreams::Compute compute,
                                     RankDevice& device)
    : program_(program), stage_(stage), performer_(performer), lanes_(compute, device) {
  for (const step::OperatorTemplate& piece : program.templates) {
    const bool computes = piece.operators.empty() ||
                          std::ranges::any_of(piece.operators, [](const step::Operator& op) {
                            return op.stream == step::DeviceStream::kCompute;
                          });
    lives_.push_back({dying_after(piece), computes});
  }
}

const step::OperatorTemplate& StageStepExecutor::piece_of(
    const step::TemplateSequenceItem& item) const {
  return program_.templates[static_cast<std::size_t>(item.which)];
}

void StageStepExecutor::run_training_step() {
  performer_.begin_step();
  for (const step::PipelineScheduleSlot& slot : stage_.schedule) run_slot(slot);
  if (lanes_.stream_has_own_thread(step::DeviceStream::kCompute))
    lanes_.wait_for_ticket(lanes_.last_queued_work_ticket(step::DeviceStream::kCompute));
  performer_.end_step();
  saved_.clear();
}

void StageStepExecutor::run_slot(const step::PipelineScheduleSlot& slot) {
  const step::TemplateSequence& sequence =
      stage_.sequences[static_cast<std::size_t>(slot.sequence)];
  if (sequence.direction == schedule::Direction::kUpdate) lanes_.wait_for_all_streams();
  Run run{.sequence = sequence,
          .slot = slot,
          .frames = std::vector<OperatorTemplateRunState>(sequence.items.size()),
          .begin = lanes_.last_queued_work_ticket(step::DeviceStream::kCompute)};
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    issue_ahead(run, i);
    if (!run.frames[i].issued) issue(run, i);
  }
}

void StageStepExecutor::issue_ahead(Run& run, std::size_t from) {
  std::array<bool, step::kStreams> blocked{};
  const std::vector<step::TemplateSequenceItem>& items = run.sequence.items;
  for (std::size_t i = from; i < items.size(); ++i) {
    if (run.frames[i].issued) continue;
    const auto issued = [&](std::int32_t earlier) {
      return run.frames[static_cast<std::size_t>(earlier)].issued;
    };
    const bool computes = lives_[static_cast<std::size_t>(items[i].which)].computes;
    bool ready = !computes &&
                 piece_of(items[i]).operators.front().kind != step::OperatorKind::kReceive &&
                 std::ranges::all_of(items[i].after, issued) &&
                 std::ranges::all_of(items[i].inputs,
                                     [&](const step::OperatorTemplateInputSource& from_item) {
                                       return issued(from_item.item);
                                     });
    for (const step::Operator& op : piece_of(items[i]).operators) {
      ready = ready && !blocked[static_cast<std::size_t>(op.stream)];
    }
    if (ready) issue(run, i);
    if (ready) continue;
    for (const step::Operator& op : piece_of(items[i]).operators) {
      blocked[static_cast<std::size_t>(op.stream)] = true;
    }
  }
}

/// Waits for the last message on a stream of states, so that at most one buffer per stream is
/// alive, as the memory model assumes (`memory/sequences.h`): on a slow network they would pile up.
/// A walk that runs ahead of its computations does not wait.
void StageStepExecutor::bound_buffers(const step::OperatorTemplate& piece) {
  if (piece.operators.empty() || lanes_.stream_has_own_thread(step::DeviceStream::kCompute)) return;
  const step::DeviceStream stream = piece.operators.front().stream;
  if (stream != step::DeviceStream::kGather && stream != step::DeviceStream::kReduce) return;
  lanes_.wait_for_ticket(last_[static_cast<std::size_t>(stream)]);
}

void StageStepExecutor::place_cells(Run& run, const step::TemplateSequenceItem& item,
                                    OperatorTemplateRunState& frame) {
  const step::OperatorTemplate& piece = piece_of(item);
  frame.cells.resize(piece.tensors.size());
  for (std::size_t i = 0; i < piece.inputs.size(); ++i) {
    const step::OperatorTemplateInputSource& source = item.inputs[i];
    frame.cells[static_cast<std::size_t>(piece.inputs[i])] =
        std::move(run.frames[static_cast<std::size_t>(source.item)]
                      .outputs[static_cast<std::size_t>(source.output)]);
  }
  if (!piece.restored.empty()) restore(run, item, frame);
  for (PlacedTensorPtr& cell : frame.cells) {
    if (!cell) cell = std::make_shared<TensorWithReadyMoment>();
  }
}

void StageStepExecutor::restore(const Run& run, const step::TemplateSequenceItem& item,
                                OperatorTemplateRunState& frame) {
  const step::OperatorTemplate& piece = piece_of(item);
  const SavedTensorsKey key{item.units.back(), run.slot.micro_batch_of(last_strand(item))};
  const auto found = saved_.find(key);
  const std::size_t count = found == saved_.end() ? 0 : found->second.size();
  if (count != piece.restored.size()) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{} of block {}, micro-batch {}: restores {} tensors, {} are saved",
                            piece.name, key.unit, key.micro_batch, piece.restored.size(), count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    frame.cells[static_cast<std::size_t>(piece.restored[i])] = std::move(found->second[i]);
  }
  saved_.erase(found);
}

void StageStepExecutor::issue(Run& run, std::size_t index) {
  const step::TemplateSequenceItem& item = run.sequence.items[index];
  const step::OperatorTemplate& piece = piece_of(item);
  OperatorTemplateRunState& frame = run.frames[index];
  frame.issued = true;
  bound_buffers(piece);
  place_cells(run, item, frame);
  std::vector<StreamTicket> before;
  if (item.after.empty()) before.push_back(run.begin);
  for (const std::int32_t earlier : item.after) {
    append(before, run.frames[static_cast<std::size_t>(earlier)].tickets);
  }
  frame.tickets.resize(piece.operators.size());
  const OperatorTemplateFacts& lives = lives_[static_cast<std::size_t>(item.which)];
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    issue_operator(run, item, frame, i, before);
    for (const step::TensorId id : lives.dies_after[i])
      frame.cells[static_cast<std::size_t>(id)].reset();
  }
  keep_outputs(run, item, frame);
}

void StageStepExecutor::keep_outputs(const Run& run, const step::TemplateSequenceItem& item,
                                     OperatorTemplateRunState& frame) {
  const step::OperatorTemplate& piece = piece_of(item);
  for (const step::TensorId id : piece.outputs) {
    frame.outputs.push_back(frame.cells[static_cast<std::size_t>(id)]);
  }
  const auto keep = [&](std::span<const step::TensorId> ids, std::int32_t unit,
                        std::size_t strand) {
    if (ids.empty()) return;
    std::vector<PlacedTensorPtr>& saved = saved_[{unit, run.slot.micro_batch_of(strand)}];
    for (const step::TensorId id : ids) saved.push_back(frame.cells[static_cast<std::size_t>(id)]);
  };
  const std::span<const step::TensorId> saved(piece.saved);
  const std::size_t own = saved.size() - static_cast<std::size_t>(piece.saved_beside);
  if (!item.units.empty()) {
    keep(saved.first(own), item.units.front(), item.strand);
    keep(saved.subspan(own), item.units.back(), 1);
  }
  frame.cells.clear();
}

void StageStepExecutor::issue_operator(const Run& run, const step::TemplateSequenceItem& item,
                                       OperatorTemplateRunState& frame, std::size_t index,
                                       const std::vector<StreamTicket>& before) {
  const step::OperatorTemplate& piece = piece_of(item);
  const step::Operator& op = piece.operators[index];
  const std::size_t strand = item.merged_micro_batch_index_of_operator(op);
  OperatorWithOperands placed{.op = op,
                              .piece = piece,
                              .item = item,
                              .layer = item.layer_of(op),
                              .unit = item.unit_of(op),
                              .chunk = run.sequence.chunk_of(strand),
                              .micro_batch = run.slot.micro_batch_of(strand)};
  std::vector<StreamTicket> waits = before;
  for (const std::int32_t earlier : piece.after(op)) {
    waits.push_back(frame.tickets[static_cast<std::size_t>(earlier)]);
  }
  const auto add = [&](step::TensorId id, std::vector<PlacedTensorPtr>& plain,
                       std::vector<PlacedTensorPtr>& gathered) {
    const PlacedTensorPtr& cell = frame.cells[static_cast<std::size_t>(id)];
    const bool states =
        piece.tensors[static_cast<std::size_t>(id)].kind == step::TensorPurpose::kGathered;
    (states ? gathered : plain).push_back(cell);
    waits.push_back(cell->written);
    return cell;
  };
  for (const step::TensorId id : piece.reads(op)) add(id, placed.reads, placed.gathered_reads);
  for (const step::TensorId id : piece.writes(op)) {
    append(waits, add(id, placed.writes, placed.gathered_writes)->read);
  }
  Work work = performer_.make_operator_work(placed);
  if (!lanes_.stream_has_own_thread(op.stream)) return work(wait_for(waits, op.stream));
  const StreamTicket ticket = lanes_.queue_work_on_stream(
      op.stream,
      [this, work = std::move(work), waits, stream = op.stream] { work(wait_for(waits, stream)); });
  frame.tickets[index] = ticket;
  last_[static_cast<std::size_t>(op.stream)] = ticket;
  for (const auto& cells : {placed.reads, placed.gathered_reads}) {
    for (const PlacedTensorPtr& cell : cells) cell->read.push_back(ticket);
  }
  for (const auto& cells : {placed.writes, placed.gathered_writes}) {
    for (const PlacedTensorPtr& cell : cells) cell->written = ticket;
  }
}

/// Waits for work on streams other than `own`, whose work is in order anyway.
Moment StageStepExecutor::wait_for(const std::vector<StreamTicket>& before,
                                   step::DeviceStream own) {
  Moment ready = Moment::min();
  for (const StreamTicket& ticket : before) {
    if (ticket.number > 0 && ticket.stream != own)
      ready = std::max(ready, lanes_.wait_for_ticket(ticket));
  }
  return ready;
}

}  // namespace stepwright::runtime
