#include "stepwright/traffic/calls.h"

#include <algorithm>
#include <map>

namespace stepwright::traffic {
namespace {

/// Returns how often a rank of the stage runs each of its sequences in a step.
std::vector<std::int64_t> sequence_runs(const step::PipelineStageProgram& stage) {
  std::vector<std::int64_t> runs(stage.sequences.size());
  for (const step::PipelineScheduleSlot& slot : stage.schedule)
    ++runs[static_cast<std::size_t>(slot.sequence)];
  return runs;
}

/// Returns how often each template runs in a step.
std::vector<std::int64_t> template_runs(const step::StepProgram& program,
                                        const step::PipelineStageProgram& stage,
                                        const std::vector<std::int64_t>& sequences) {
  std::vector<std::int64_t> runs(program.templates.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (const step::TemplateSequenceItem& item : stage.sequences[i].items) {
      runs[static_cast<std::size_t>(item.which)] += sequences[i];
    }
  }
  return runs;
}

bool is_transfer(step::OperatorKind kind) {
  return kind == step::OperatorKind::kSend || kind == step::OperatorKind::kReceive;
}

std::int64_t partners(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                      const step::Operator& op) {
  const auto last = static_cast<std::int32_t>(program.stages.size()) - 1;
  if (is_transfer(op.kind)) return last > 0 ? 2 : 1;
  if (op.group == plan::CommunicatorKind::kEmbedding && stage.position != 0 &&
      stage.position != last)
    return 1;
  return program.group_sizes[static_cast<std::size_t>(op.group)];
}

/// Returns, by receiving pipeline position, how often a rank of the stage performs the send `op` of
/// a template.
std::map<std::int64_t, std::int64_t> receivers(const step::StepProgram& program,
                                               const step::PipelineStageProgram& stage,
                                               const std::vector<std::int64_t>& sequences,
                                               step::TemplateId which, const step::Operator& op) {
  std::map<std::int64_t, std::int64_t> counts;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const step::TemplateSequence& sequence = stage.sequences[i];
    for (const step::TemplateSequenceItem& item : sequence.items) {
      if (item.which != which || sequences[i] == 0) continue;
      const schedule::ModelChunkPosition own{
          stage.position, sequence.chunk_of(item.merged_micro_batch_index_of_operator(op))};
      const auto other = op.phase == step::Phase::kForward
                             ? program.placement.next_chunk_place(own)
                             : program.placement.next_chunk_place_of_backward(own);
      if (other) counts[other->position] += sequences[i] * op.repeats;
    }
  }
  return counts;
}

void set_carrier(StageCommunicationCall& call, const plan::RankGrid& grid,
                 const MessageAlgorithmChoice& carriers) {
  const step::Operator& op = *call.op;
  const collective::CollectiveAlgorithm named =
      step::planned_collective_algorithm(carriers.collectives, op.scheme);
  if (carriers.cluster == nullptr || named == collective::CollectiveAlgorithm::kLibrary) return;
  const cluster::Cluster& cluster = *carriers.cluster;
  call.form = collective::group_node_layout(
      plan::rank_group_network_layout(cluster, grid.communicator_shape(op.group)), cluster);
  call.algorithm = collective::effective_collective_algorithm(
      named, step::collective_of_operator(op.kind), call.form);
}

}  // namespace

std::vector<StageCommunicationCall> rank_communication_calls(
    const step::StepProgram& program, const step::PipelineStageProgram& stage,
    const plan::RankGrid& grid, const MessageAlgorithmChoice& carriers) {
  const std::vector<std::int64_t> sequences = sequence_runs(stage);
  const std::vector<std::int64_t> runs = template_runs(program, stage, sequences);
  std::vector<StageCommunicationCall> calls;
  for (std::size_t i = 0; i < program.templates.size(); ++i) {
    if (runs[i] == 0) continue;
    for (const step::Operator& op : program.templates[i].operators) {
      if (!step::is_communication(op.kind)) continue;
      const std::int64_t size = partners(program, stage, op);
      if (size <= 1) continue;
      if (op.kind == step::OperatorKind::kSend) {
        const auto which = static_cast<step::TemplateId>(i);
        for (const auto& [to, count] : receivers(program, stage, sequences, which, op)) {
          calls.push_back({.op = &op, .count = count, .group_size = size, .to = to});
        }
        continue;
      }
      set_carrier(calls.emplace_back(StageCommunicationCall{
                      .op = &op, .count = runs[i] * op.repeats, .group_size = size}),
                  grid, carriers);
    }
  }
  return calls;
}

double sent_bytes(const StageCommunicationCall& call) {
  if (call.op->kind == step::OperatorKind::kReceive) return 0;
  const auto payload_bytes = static_cast<double>(call.op->payload_bytes());
  const collective::CollectiveOperation collective = step::collective_of_operator(call.op->kind);
  if (call.algorithm == collective::CollectiveAlgorithm::kLibrary) {
    return collective::bytes_sent_by_each_rank(collective, payload_bytes, call.group_size);
  }
  return collective::bytes_sent_by_each_rank(call.algorithm, collective, payload_bytes, call.form);
}

}  // namespace stepwright::traffic
