#include "stepwright/runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/runtime/groups.h"
#include "stepwright/runtime/messages.h"

namespace stepwright {
namespace {

void append(std::vector<Ticket>& to, const std::vector<Ticket>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<std::vector<TensorId>> last_uses(const Template& piece) {
  std::vector<std::int32_t> last(piece.tensors.size(), -1);
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const Operator& op = piece.operators[i];
    for (const TensorId id : piece.reads(op))
      last[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
    for (const TensorId id : piece.writes(op))
      last[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
  }
  for (const auto& kept : {piece.outputs, piece.saved}) {
    for (const TensorId id : kept) last[static_cast<std::size_t>(id)] = -1;
  }
  std::vector<std::vector<TensorId>> dies(piece.operators.size());
  for (std::size_t id = 0; id < last.size(); ++id) {
    if (last[id] >= 0) {
      dies[static_cast<std::size_t>(last[id])].push_back(static_cast<TensorId>(id));
    }
  }
  return dies;
}

/// Results have the sizes that the program gave them, but for routed ones, whose rows are data.
void check_results(const Call& call, std::span<const TensorId> ids) {
  std::size_t next = 0;
  for (const TensorId id : ids) {
    const Tensor& expected = call.piece.tensors[static_cast<std::size_t>(id)];
    if (expected.kind == TensorKind::kGathered) continue;
    const at::Tensor& value = call.writes[next++]->value;
    if (expected.routed) continue;
    if (!value.defined() || value.numel() != expected.elements()) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{}: {} made {} elements of '{}', the program says {}",
                              call.piece.name, call.op.name, value.defined() ? value.numel() : 0,
                              expected.name, expected.elements()));
    }
  }
}

/// What an operator made is held from here on, under what the program says that it is for.
void count_results(const Call& call, HeldTensors& held) {
  std::size_t plain = 0;
  std::size_t gathered = 0;
  for (const TensorId id : call.piece.writes(call.op)) {
    const TensorKind kind = call.piece.tensors[static_cast<std::size_t>(id)].kind;
    const bool states = kind == TensorKind::kGathered;
    (states ? call.gathered_writes[gathered++] : call.writes[plain++])->count(held, kind);
  }
  held.note_peak();
}

}  // namespace

Executor::Executor(const StepProgram& program, const Stage& stage, RankState& rank)
    : program_(program), stage_(stage), rank_(rank) {
  for (const Template& piece : program.templates) {
    const bool computes = std::ranges::any_of(
        piece.operators, [](const Operator& op) { return op.stream == Stream::kCompute; });
    lives_.push_back({last_uses(piece), computes});
  }
}

const Template& Executor::piece_of(const Item& item) const {
  return program_.templates[static_cast<std::size_t>(item.which)];
}

void Executor::run_step(const std::function<MicroBatch(std::int64_t)>& batch) {
  held_.begin_step();
  for (const Slot& slot : stage_.schedule) run_slot(slot, batch);
  rank_.groups.finish();
  saved_.clear();
  batches_.clear();
}

void Executor::run_slot(const Slot& slot, const std::function<MicroBatch(std::int64_t)>& batch) {
  const Sequence& sequence = stage_.sequences[static_cast<std::size_t>(slot.sequence)];
  if (sequence.direction == Direction::kUpdate) lanes_.wait_all();
  if (slot.micro_batch >= 0 && !batches_.contains(slot.micro_batch)) {
    batches_[slot.micro_batch] = batch(slot.micro_batch);
  }
  Run run{sequence, slot.micro_batch, std::vector<Frame>(sequence.items.size())};
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    issue_ahead(run, i);
    if (!run.frames[i].issued) issue(run, i);
  }
}

void Executor::issue_ahead(Run& run, std::size_t from) {
  std::array<bool, kStreams> blocked{};
  const std::vector<Item>& items = run.sequence.items;
  for (std::size_t i = from; i < items.size(); ++i) {
    if (run.frames[i].issued) continue;
    const auto issued = [&](std::int32_t earlier) {
      return run.frames[static_cast<std::size_t>(earlier)].issued;
    };
    const bool receives = piece_of(items[i]).operators.front().kind == OperatorKind::kReceive;
    bool ready = !lives_[static_cast<std::size_t>(items[i].which)].computes && !receives &&
                 std::ranges::all_of(items[i].after, issued) &&
                 std::ranges::all_of(items[i].inputs, [&](const Source& from_item) {
                   return issued(from_item.item);
                 });
    for (const Operator& op : piece_of(items[i]).operators) {
      ready = ready && !blocked[static_cast<std::size_t>(op.stream)];
    }
    if (ready) issue(run, i);
    if (ready) continue;
    for (const Operator& op : piece_of(items[i]).operators) {
      blocked[static_cast<std::size_t>(op.stream)] = true;
    }
  }
}

/// Buffers of states stay at most until the next message of their stream comes, as the memory model
/// has it (`memory/sequences.h`): a slow network must not pile them up.
void Executor::bound_buffers(const Template& piece) {
  if (piece.operators.empty()) return;
  const Stream stream = piece.operators.front().stream;
  if (stream != Stream::kGather && stream != Stream::kReduce) return;
  lanes_.wait(last_[static_cast<std::size_t>(stream)]);
}

void Executor::place_cells(Run& run, const Item& item, Frame& frame) {
  const Template& piece = piece_of(item);
  frame.cells.resize(piece.tensors.size());
  for (std::size_t i = 0; i < piece.inputs.size(); ++i) {
    const Source& source = item.inputs[i];
    frame.cells[static_cast<std::size_t>(piece.inputs[i])] =
        std::move(run.frames[static_cast<std::size_t>(source.item)]
                      .outputs[static_cast<std::size_t>(source.output)]);
  }
  if (!piece.restored.empty()) {
    const auto found = saved_.find({item.units.front(), run.micro_batch});
    for (std::size_t i = 0; i < piece.restored.size(); ++i) {
      frame.cells[static_cast<std::size_t>(piece.restored[i])] = std::move(found->second[i]);
    }
    saved_.erase(found);
  }
  for (CellPtr& cell : frame.cells) {
    if (!cell) cell = std::make_shared<Cell>();
  }
}

void Executor::issue(Run& run, std::size_t index) {
  const Item& item = run.sequence.items[index];
  const Template& piece = piece_of(item);
  Frame& frame = run.frames[index];
  frame.issued = true;
  bound_buffers(piece);
  place_cells(run, item, frame);
  std::vector<Ticket> before;
  for (const std::int32_t earlier : item.after) {
    append(before, run.frames[static_cast<std::size_t>(earlier)].tickets);
  }
  frame.tickets.resize(piece.operators.size());
  const Lives& lives = lives_[static_cast<std::size_t>(item.which)];
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    issue_operator(run, item, frame, i, before);
    for (const TensorId id : lives.dies_after[i]) frame.cells[static_cast<std::size_t>(id)].reset();
  }
  keep_outputs(run, item, frame);
}

void Executor::keep_outputs(const Run& run, const Item& item, Frame& frame) {
  const Template& piece = piece_of(item);
  for (const TensorId id : piece.outputs) {
    frame.outputs.push_back(frame.cells[static_cast<std::size_t>(id)]);
  }
  if (!piece.saved.empty()) {
    std::vector<CellPtr>& saved = saved_[{item.units.front(), run.micro_batch}];
    for (const TensorId id : piece.saved) {
      saved.push_back(frame.cells[static_cast<std::size_t>(id)]);
    }
  }
  frame.cells.clear();
}

void Executor::issue_operator(const Run& run, const Item& item, Frame& frame, std::size_t index,
                              const std::vector<Ticket>& before) {
  const Template& piece = piece_of(item);
  const Operator& op = piece.operators[index];
  auto call = std::make_shared<Call>(Call{.op = op,
                                          .piece = piece,
                                          .item = item,
                                          .rank = rank_,
                                          .chunk = run.sequence.chunk,
                                          .micro_batch = run.micro_batch,
                                          .direction = run.sequence.direction});
  if (run.micro_batch >= 0) call->batch = &batches_.at(run.micro_batch);
  std::vector<Ticket> waits = before;
  for (const std::int32_t earlier : piece.after(op)) {
    waits.push_back(frame.tickets[static_cast<std::size_t>(earlier)]);
  }
  const auto add = [&](TensorId id, std::vector<CellPtr>& plain, std::vector<CellPtr>& gathered) {
    const CellPtr& cell = frame.cells[static_cast<std::size_t>(id)];
    const bool states = piece.tensors[static_cast<std::size_t>(id)].kind == TensorKind::kGathered;
    (states ? gathered : plain).push_back(cell);
    waits.push_back(cell->written);
    return cell;
  };
  for (const TensorId id : piece.reads(op)) add(id, call->reads, call->gathered_reads);
  for (const TensorId id : piece.writes(op)) {
    append(waits, add(id, call->writes, call->gathered_writes)->read);
  }
  if (op.stream == Stream::kCompute) return run_operator(*call, waits);
  const Ticket ticket =
      lanes_.submit(op.stream, [this, call, waits] { run_operator(*call, waits); });
  frame.tickets[index] = ticket;
  last_[static_cast<std::size_t>(op.stream)] = ticket;
  for (const auto& cells : {call->reads, call->gathered_reads}) {
    for (const CellPtr& cell : cells) cell->read.push_back(ticket);
  }
  for (const auto& cells : {call->writes, call->gathered_writes}) {
    for (const CellPtr& cell : cells) cell->written = ticket;
  }
}

void Executor::run_operator(Call& call, const std::vector<Ticket>& before) {
  for (const Ticket& ticket : before) {
    if (ticket.number == 0 || ticket.stream == call.op.stream) continue;
    lanes_.wait(ticket);
  }
  if (is_communication(call.op.kind)) {
    run_message(call);
  } else {
    const Kernel kernel = find_kernel(call.op);
    if (kernel == nullptr) {
      throw Error(ErrorKind::kUnsupported, fmt::format("{}: no kernel for {} yet", call.op.name,
                                                       name_of(kOperatorNames, call.op.kind)));
    }
    kernel(call);
  }
  if (!call.writes.empty()) check_results(call, call.piece.writes(call.op));
  count_results(call, held_);
}

}  // namespace stepwright
