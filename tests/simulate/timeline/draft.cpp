#include "tests/simulate/timeline/draft.h"

#include <algorithm>

#include "stepwright/schedule/placement.h"

namespace stepwright::simulate {

Line computation(double seconds, std::vector<std::int32_t> after) {
  return {.seconds = seconds, .after = std::move(after), .name = "computation"};
}

Line tensor_message(double seconds, std::vector<std::int32_t> after) {
  return {.seconds = seconds,
          .kind = step::OperatorKind::kAllReduce,
          .stream = step::DeviceStream::kTensor,
          .scheme = step::ParallelismScheme::kTensor,
          .link = cost::LinkClass::kInside,
          .group = plan::CommunicatorKind::kTensor,
          .after = std::move(after),
          .name = "tensor_message"};
}

Line reduction(double seconds, std::vector<std::int32_t> after) {
  return {.seconds = seconds,
          .kind = step::OperatorKind::kReduceScatter,
          .stream = step::DeviceStream::kReduce,
          .scheme = step::ParallelismScheme::kData,
          .link = cost::LinkClass::kNetwork,
          .group = plan::CommunicatorKind::kDataContext,
          .after = std::move(after),
          .name = "reduction"};
}

Line send(double seconds, bool backward, std::vector<std::int32_t> after) {
  return {.seconds = seconds,
          .kind = step::OperatorKind::kSend,
          .stream = backward ? step::DeviceStream::kPipelineBackward
                             : step::DeviceStream::kPipelineForward,
          .scheme = step::ParallelismScheme::kPipeline,
          .group = plan::CommunicatorKind::kPipeline,
          .after = std::move(after),
          .name = "send",
          .phase = backward ? step::Phase::kDataGradient : step::Phase::kForward};
}

Line receive(bool backward) {
  Line line = send(0, backward);
  line.kind = step::OperatorKind::kReceive;
  line.name = "receive";
  return line;
}

step::TemplateId Draft::add(std::initializer_list<Line> lines) {
  return add(std::vector<Line>(lines));
}

step::TemplateId Draft::add(const std::vector<Line>& lines) {
  step::OperatorTemplate piece;
  std::vector<cost::OperatorTime> times;
  piece.name = "template " + std::to_string(program.templates.size());
  for (const Line& line : lines) {
    step::Operator op;
    op.kind = line.kind;
    op.stream = line.stream;
    op.scheme = line.scheme;
    op.group = line.group;
    op.name = line.name;
    op.phase = line.phase;
    op.after = {static_cast<std::int32_t>(piece.edges.size()),
                static_cast<std::int32_t>(line.after.size())};
    piece.edges.insert(piece.edges.end(), line.after.begin(), line.after.end());
    piece.operators.push_back(op);
    times.push_back({line.seconds, line.link});
  }
  program.templates.push_back(std::move(piece));
  prices.push_back(std::move(times));
  return static_cast<step::TemplateId>(prices.size() - 1);
}

step::PipelineStageProgram& Draft::stage() {
  step::PipelineStageProgram stage;
  stage.position = static_cast<std::int32_t>(program.stages.size());
  program.placement = {schedule::ModelChunkPlacementKind::kCyclic, stage.position + 1, 1};
  return program.stages.emplace_back(std::move(stage));
}

std::int32_t chain(step::PipelineStageProgram& stage, schedule::Direction direction,
                   const std::vector<step::TemplateId>& templates, std::int32_t chunk) {
  step::TemplateSequence sequence{.direction = direction, .chunk = chunk, .items = {}};
  for (const step::TemplateId which : templates) {
    step::TemplateSequenceItem item{.which = which, .layer = -1, .after = {}, .inputs = {}};
    if (!sequence.items.empty()) {
      item.after.push_back(static_cast<std::int32_t>(sequence.items.size() - 1));
    }
    sequence.items.push_back(std::move(item));
  }
  stage.sequences.push_back(std::move(sequence));
  return static_cast<std::int32_t>(stage.sequences.size() - 1);
}

Draft single(const std::vector<std::vector<Line>>& templates, schedule::Direction direction) {
  Draft draft;
  step::PipelineStageProgram& stage = draft.stage();
  std::vector<step::TemplateId> ids;
  ids.reserve(templates.size());
  for (const std::vector<Line>& lines : templates) ids.push_back(draft.add(lines));
  stage.schedule.push_back({chain(stage, direction, ids), 0});
  return draft;
}

std::vector<std::int32_t> pipeline_order(const Pipeline& pipeline, std::int32_t position) {
  const auto stages = static_cast<std::int32_t>(pipeline.forward_s.size());
  const std::int32_t count = pipeline.micro_batches;
  const std::int32_t ahead = pipeline.gpipe ? count : std::min(stages - position, count);
  std::vector<std::int32_t> order;
  for (std::int32_t m = 0; m < ahead; ++m) order.push_back(m);
  for (std::int32_t m = 0; m < count; ++m) {
    order.push_back(-1 - m);
    if (ahead + m < count) order.push_back(ahead + m);
  }
  return order;
}

Draft draft(const Pipeline& pipeline) {
  Draft draft;
  const auto stages = static_cast<std::int32_t>(pipeline.forward_s.size());
  for (std::int32_t s = 0; s < stages; ++s) {
    step::PipelineStageProgram& stage = draft.stage();
    const auto piece = [&](double seconds, bool backward, bool receives, bool sends) {
      std::vector<step::TemplateId> ids;
      if (receives) ids.push_back(draft.add({receive(backward)}));
      ids.push_back(draft.add({computation(seconds)}));
      if (sends) ids.push_back(draft.add({send(pipeline.send_s, backward)}));
      return chain(stage, backward ? schedule::Direction::kBackward : schedule::Direction::kForward,
                   ids);
    };
    const bool first = s == 0;
    const bool last = s + 1 == stages;
    const std::int32_t forward = piece(pipeline.forward_s[s], false, !first, !last);
    const std::int32_t backward = piece(pipeline.backward_s[s], true, !last, !first);
    for (const std::int32_t turn : pipeline_order(pipeline, s)) {
      stage.schedule.push_back({turn < 0 ? backward : forward, turn < 0 ? -1 - turn : turn});
    }
  }
  return draft;
}

}  // namespace stepwright::simulate
