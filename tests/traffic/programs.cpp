#include "tests/traffic/programs.h"

#include <numeric>
#include <utility>

namespace stepwright::testing {

plan::Plan plan_of(const plan::ParallelismDegrees& parallel) {
  plan::Plan plan;
  plan.parallel = parallel;
  return plan;
}

step::Operator message(step::OperatorKind kind, step::ParallelismScheme scheme,
                       plan::CommunicatorKind group, std::int64_t bytes) {
  step::Operator op;
  op.kind = kind;
  op.scheme = scheme;
  op.group = group;
  op.dtype = DType::kInt8;
  op.payload_elements = bytes;
  return op;
}

step::StepProgram program_of(const plan::Plan& plan, std::vector<step::Operator> operators,
                             std::int32_t micro_batches) {
  const plan::RankGrid grid(plan);
  step::StepProgram program;
  program.ranks = grid.ranks();
  program.micro_batches = micro_batches;
  program.placement = plan::model_chunk_placement(plan);
  for (int kind = 0; kind < plan::kGroupKinds; ++kind) {
    program.group_sizes[static_cast<std::size_t>(kind)] =
        grid.size(static_cast<plan::CommunicatorKind>(kind));
  }
  program.templates.resize(1);
  program.templates[0].operators = std::move(operators);
  for (std::int32_t position = 0; position < plan.parallel.pipeline; ++position) {
    step::PipelineStageProgram stage;
    stage.position = position;
    for (std::int32_t chunk = 0; chunk < plan.schedule.chunks; ++chunk) {
      step::TemplateSequence sequence{
          .direction = schedule::Direction::kForward, .chunk = chunk, .items = {}};
      sequence.items.emplace_back();
      stage.sequences.push_back(std::move(sequence));
      for (std::int32_t i = 0; i < micro_batches; ++i) stage.schedule.push_back({chunk, i});
    }
    program.stages.push_back(stage);
  }
  return program;
}

cluster::Cluster cluster_of(std::int64_t nodes, std::int64_t devices) {
  cluster::Cluster cluster;
  cluster.nodes = nodes;
  cluster.devices_per_node = devices;
  cluster.nics_per_node = devices;
  cluster.nic_of_device.resize(static_cast<std::size_t>(devices));
  std::iota(cluster.nic_of_device.begin(), cluster.nic_of_device.end(), 0);
  cluster.levels = {
      {.name = "nvlink", .size = devices, .uplink_bytes_per_s = 1e9, .latency_s = 0},
      {.name = "network", .size = nodes * devices, .uplink_bytes_per_s = 1e9, .latency_s = 0}};
  return cluster;
}

}  // namespace stepwright::testing
