#include "tests/memory/pieces.h"

#include <algorithm>
#include <utility>

namespace stepwright::testing {
namespace {

std::int64_t below(std::mt19937& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

step::TensorPurpose any_kind(std::mt19937& random) {
  return static_cast<step::TensorPurpose>(below(random, step::kTensorKinds));
}

/// Sizes that the layers of a random model share.
struct Sizes {
  std::int64_t stream = 1000;  ///< Bytes that layers pass to each other.
  /// Bytes gathered before a layer; gradients have as many after it.
  std::int64_t parameters = 5000;
  std::vector<std::int64_t> saved;
};

/// Adds operators that read existing tensors and write new ones; every tensor of `needed` is
/// written.
void fill(Piece& piece, std::vector<step::TensorId> known,
          const std::vector<step::TensorId>& needed, std::mt19937& random) {
  for (step::TensorId id : needed) {
    const step::TensorId scratch =
        piece.tensor(below(random, 3000), any_kind(random), below(random, 4) == 0);
    const step::TensorId source = known[static_cast<std::size_t>(below(random, std::ssize(known)))];
    piece.op({source}, {scratch}).op({scratch, source}, {id});
    known.push_back(scratch);
    known.push_back(id);
  }
}

step::OperatorTemplate layer_forward(const Sizes& sizes, std::mt19937& random) {
  Piece piece;
  const step::TensorId weights = piece.input(sizes.parameters, step::TensorPurpose::kGathered);
  const step::TensorId x = piece.input(sizes.stream);
  std::vector<step::TensorId> made;
  for (std::int64_t bytes : sizes.saved) made.push_back(piece.tensor(bytes, any_kind(random)));
  for (step::TensorId id : made) piece.save(id);
  made.push_back(piece.tensor(sizes.stream));
  piece.output(made.back());
  if (below(random, 2) == 0) piece.save(x);
  fill(piece, {weights, x}, made, random);
  return piece.get();
}

step::OperatorTemplate layer_backward(const step::OperatorTemplate& forward, const Sizes& sizes,
                                      std::mt19937& random) {
  Piece piece;
  std::vector<step::TensorId> known = {
      piece.input(sizes.parameters, step::TensorPurpose::kGathered), piece.input(sizes.stream)};
  for (step::TensorId id : forward.saved) {
    const step::TemplateTensor& tensor = forward.tensors[static_cast<std::size_t>(id)];
    known.push_back(piece.restored(tensor.bytes(), tensor.kind));
  }
  const step::TensorId gradients = piece.tensor(sizes.parameters, step::TensorPurpose::kGathered);
  const step::TensorId dx = piece.tensor(sizes.stream);
  piece.output(dx).output(gradients);
  fill(piece, known, {gradients, dx}, random);
  return piece.get();
}

/// Returns a message that makes or consumes one buffer; its operator names the buffer at random.
step::OperatorTemplate message(std::int64_t bytes, step::TensorPurpose kind, bool makes,
                               step::DeviceStream stream, std::mt19937& random) {
  Piece piece;
  const step::TensorId id = makes ? piece.tensor(bytes, kind) : piece.input(bytes, kind);
  if (makes) piece.output(id);
  if (below(random, 2) == 0) return piece.op({}, {}, stream).get();
  return piece
      .op(std::vector<step::TensorId>(makes ? 0 : 1, id),
          std::vector<step::TensorId>(makes ? 1 : 0, id), stream)
      .get();
}

constexpr step::TemplateId kReceive = 0, kGather = 1, kReduce = 2, kSend = 3, kLayers = 4;

/// Adds the four messages, then forward and backward templates of each layer class.
void add_templates(step::StepProgram& program, int classes, std::mt19937& random) {
  const Sizes common;
  const auto any = [&](step::DeviceStream own) {
    return below(random, 3) == 0 ? step::DeviceStream::kCompute : own;
  };
  const auto stream = step::TensorPurpose::kActivation;
  const auto gathered = step::TensorPurpose::kGathered;
  program.templates = {
      message(common.stream, stream, true, step::DeviceStream::kPipelineForward, random),
      message(common.parameters, gathered, true, any(step::DeviceStream::kGather), random),
      message(common.parameters, gathered, false, any(step::DeviceStream::kReduce), random),
      message(common.stream, stream, false, any(step::DeviceStream::kPipelineBackward), random)};
  for (int i = 0; i < classes; ++i) {
    Sizes sizes = common;
    for (std::int64_t n = below(random, 5); n >= 0; --n) sizes.saved.push_back(below(random, 4000));
    program.templates.push_back(layer_forward(sizes, random));
    const step::OperatorTemplate forward = program.templates.back();
    program.templates.push_back(layer_backward(forward, sizes, random));
  }
}

/// Gathers are issued up to `early` layers before their use and wait for the layer `ahead` layers
/// before it; reductions are issued up to `late` layers after their layer.
struct Timing {
  std::int64_t early = 0;
  std::int64_t ahead = 1;
  std::int64_t late = 0;
};

step::TemplateSequence sequence_of(const std::vector<int>& classes, schedule::Direction direction,
                                   const Timing& timing) {
  step::TemplateSequence result;
  result.direction = direction;
  const auto append = [&](const step::TemplateSequenceItem& made) {
    result.items.push_back(made);
    return static_cast<std::int32_t>(result.items.size() - 1);
  };
  const bool forward = direction == schedule::Direction::kForward;
  const std::int64_t layers = std::ssize(classes);
  std::int32_t source = append(item(kReceive));
  std::vector<std::int32_t> gathers, done;
  std::int64_t reduced = 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    while (std::ssize(gathers) < std::min(layers, i + 1 + timing.early)) {
      const std::int64_t waits_for = std::min(std::ssize(gathers) - timing.ahead, i - 1);
      gathers.push_back(append(waits_for < 0
                                   ? item(kGather)
                                   : item(kGather, {done[static_cast<std::size_t>(waits_for)]})));
    }
    const int which = classes[static_cast<std::size_t>(forward ? i : layers - 1 - i)];
    const std::int32_t gather = gathers[static_cast<std::size_t>(i)];
    source = append(item(static_cast<step::TemplateId>(kLayers + 2 * which + (forward ? 0 : 1)),
                         {source, gather}, {{gather, 0}, {source, 0}}));
    done.push_back(source);
    for (; !forward && reduced <= i - timing.late; ++reduced) {
      const std::int32_t layer = done[static_cast<std::size_t>(reduced)];
      append(item(kReduce, {layer}, {{layer, 1}}));
    }
  }
  append(item(kSend, {source}, {{source, 0}}));
  return result;
}

void add_schedule(step::PipelineStageProgram& stage, std::int32_t warm_up,
                  std::int32_t micro_batches) {
  std::int32_t backward = 0;
  for (std::int32_t forward = 0; forward < micro_batches; ++forward) {
    stage.schedule.push_back({0, forward});
    if (forward >= warm_up) stage.schedule.push_back({1, backward++});
  }
  while (backward < micro_batches) stage.schedule.push_back({1, backward++});
}

}  // namespace

step::TensorId Piece::tensor(std::int64_t bytes, step::TensorPurpose kind, bool routed) {
  piece_.tensors.push_back({.name = "",
                            .kind = kind,
                            .dtype = DType::kInt8,
                            .routed = routed,
                            .extents = {bytes, 1, 1}});
  return static_cast<step::TensorId>(piece_.tensors.size() - 1);
}

step::TensorId Piece::input(std::int64_t bytes, step::TensorPurpose kind) {
  return piece_.inputs.emplace_back(tensor(bytes, kind));
}

step::TensorId Piece::restored(std::int64_t bytes, step::TensorPurpose kind) {
  return piece_.restored.emplace_back(tensor(bytes, kind));
}

Piece& Piece::op(const std::vector<step::TensorId>& reads,
                 const std::vector<step::TensorId>& writes, step::DeviceStream stream) {
  const auto slice = [&](const std::vector<step::TensorId>& ids) {
    const step::IndexRange result{static_cast<std::int32_t>(piece_.operands.size()),
                                  static_cast<std::int32_t>(ids.size())};
    piece_.operands.insert(piece_.operands.end(), ids.begin(), ids.end());
    return result;
  };
  step::Operator made;
  made.stream = stream;
  made.reads = slice(reads);
  made.writes = slice(writes);
  piece_.operators.push_back(made);
  return *this;
}

Piece& Piece::output(step::TensorId id) {
  piece_.outputs.push_back(id);
  return *this;
}

Piece& Piece::save(step::TensorId id) {
  piece_.saved.push_back(id);
  return *this;
}

step::TemplateSequenceItem item(step::TemplateId which, std::vector<std::int32_t> after,
                                std::vector<step::OperatorTemplateInputSource> inputs) {
  return {.which = which, .layer = -1, .after = std::move(after), .inputs = std::move(inputs)};
}

step::StepProgram random_program(std::mt19937& random) {
  step::StepProgram program;
  program.imbalance = 1.0 + 0.1 * static_cast<double>(below(random, 8));
  const int kinds = 1 + static_cast<int>(below(random, 3));
  add_templates(program, kinds, random);
  const auto stages = static_cast<std::int32_t>(1 + below(random, 4));
  const auto micro_batches = static_cast<std::int32_t>(1 + below(random, 9));
  for (std::int32_t position = 0; position < stages; ++position) {
    std::vector<int> classes(static_cast<std::size_t>(1 + below(random, 4)));
    for (int& which : classes) which = static_cast<int>(below(random, kinds));
    step::PipelineStageProgram stage;
    stage.position = position;
    const Timing timing{below(random, 3), 1 + below(random, 3), below(random, 3)};
    stage.sequences = {sequence_of(classes, schedule::Direction::kForward, timing),
                       sequence_of(classes, schedule::Direction::kBackward, timing)};
    stage.states = {.parameters = below(random, 9999), .gradients = 7, .optimizer = 11};
    add_schedule(stage, stages - 1 - position, micro_batches);
    program.stages.push_back(stage);
  }
  return program;
}

}  // namespace stepwright::testing
