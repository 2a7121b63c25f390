#include "stepwright/memory/sequences.h"

#include <gmock/gmock.h>

#include "tests/memory/pieces.h"

namespace stepwright::memory {
namespace {

using ::testing::ElementsAre;
using testing::item;
using testing::Piece;

constexpr step::TemplateId kReceive = 0, kLayer = 1, kSend = 2, kGather = 3, kBackward = 4,
                           kReduce = 5;

/// Returns a program with a residual stream of 100 bytes, weights of 1,000 gathered for each layer,
/// 20 saved beside the layer's input, and gradients of 1,000 that the backward pass reduces.
step::StepProgram sharded_program(step::DeviceStream gather_stream,
                                  step::DeviceStream reduce_stream) {
  step::StepProgram program;
  Piece receive;
  const step::TensorId received = receive.tensor(100);
  receive.op({}, {received}, step::DeviceStream::kPipelineForward).output(received);

  Piece layer;
  const step::TensorId x = layer.input(100);
  const step::TensorId weights = layer.input(1000, step::TensorPurpose::kGathered);
  const step::TensorId mid = layer.tensor(20);
  const step::TensorId y = layer.tensor(100);
  layer.op({x, weights}, {mid}).op({mid}, {y}).save(x).save(mid).output(y);

  Piece send;
  const step::TensorId sent = send.input(100);
  send.op({sent}, {}, step::DeviceStream::kPipelineForward);

  Piece gather;
  gather.op({}, {}, gather_stream).output(gather.tensor(1000, step::TensorPurpose::kGathered));

  Piece backward;
  const step::TensorId dy = backward.input(100);
  const step::TensorId again = backward.input(1000, step::TensorPurpose::kGathered);
  const step::TensorId old_x = backward.restored(100);
  const step::TensorId old_mid = backward.restored(20);
  const step::TensorId gradients = backward.tensor(1000, step::TensorPurpose::kGathered);
  const step::TensorId dx = backward.tensor(100);
  backward.op({dy, again, old_x, old_mid}, {gradients, dx}).output(dx).output(gradients);

  Piece reduce;
  reduce.input(1000, step::TensorPurpose::kGathered);
  reduce.op({}, {}, reduce_stream);

  program.templates = {receive.get(), layer.get(),    send.get(),
                       gather.get(),  backward.get(), reduce.get()};
  return program;
}

/// Returns the forward pass of three layers. A gather precedes its layer and waits for the layer
/// `ahead` positions before it.
std::vector<step::TemplateSequenceItem> three_forward(std::int32_t ahead) {
  const auto gather = [&](std::int32_t layer) {
    const std::int32_t waits_for = layer - ahead;
    return waits_for < 0 ? item(kGather) : item(kGather, {2 + 2 * waits_for});
  };
  return {item(kReceive),
          gather(0),
          item(kLayer, {0, 1}, {{0, 0}, {1, 0}}),
          gather(1),
          item(kLayer, {2, 3}, {{2, 0}, {3, 0}}),
          gather(2),
          item(kLayer, {4, 5}, {{4, 0}, {5, 0}}),
          item(kSend, {6}, {{6, 0}})};
}

/// Returns the backward pass of two layers, each followed by its reduction.
std::vector<step::TemplateSequenceItem> two_backward() {
  return {item(kReceive),
          item(kGather),
          item(kBackward, {0, 1}, {{0, 0}, {1, 0}}),
          item(kReduce, {2}, {{2, 1}}),
          item(kGather, {2}),
          item(kBackward, {2, 4}, {{2, 0}, {4, 0}}),
          item(kReduce, {5}, {{5, 1}}),
          item(kSend, {5}, {{5, 0}})};
}

TemplateSequenceMemory run(const step::StepProgram& program,
                           const std::vector<step::TemplateSequenceItem>& items) {
  step::TemplateSequence sequence;
  sequence.items = items;
  return template_sequence_footprint(program, sequence, template_memory_footprints(program));
}

step::StepProgram in_turn() {
  return sharded_program(step::DeviceStream::kCompute, step::DeviceStream::kCompute);
}
step::StepProgram overlapped() {
  return sharded_program(step::DeviceStream::kGather, step::DeviceStream::kReduce);
}

TEST(TemplateSequenceMemory, OfNothingIsNothing) {
  EXPECT_EQ(run(step::StepProgram{}, {}).peak_bytes, 0);
}

// In the third layer: the first two keep 120 each; x 100, mid 20 and the weights.
TEST(TemplateSequenceMemory, CountsWhatIsHandedOverOnce) {
  const TemplateSequenceMemory found = run(in_turn(), three_forward(1));
  EXPECT_THAT(found.at_peak, ElementsAre(240 + 120, 0, 1000, 0));
  EXPECT_THAT(found.left, ElementsAre(360, 0, 0, 0));
}

// A gather that waits for the layer before the last is done while the last one runs: in the second
// layer, where 120 wait, the weights of the second and the third are there. Its second operator has
// freed the weights and made y: less.
TEST(TemplateSequenceMemory, HoldsPrefetchedParametersDuringTheLayerBefore) {
  const TemplateSequenceMemory found = run(overlapped(), three_forward(2));
  EXPECT_THAT(found.at_peak, ElementsAre(120 + 120, 0, 2000, 0));
}

// A gather of the forward pass makes 1,000 bytes in its own buffer, which stay until the next
// gather. They are allocated in addition to the copies for the next block and the result of its
// gather.
TEST(TemplateSequenceMemory, HoldsWhatAGatherHasMadeUntilTheNext) {
  step::StepProgram program = overlapped();
  Piece gather;
  const step::TensorId parameters = gather.tensor(1000, step::TensorPurpose::kGathered);
  const step::TensorId made = gather.tensor(1000, step::TensorPurpose::kCommunication);
  gather.op({}, {}, step::DeviceStream::kGather).output(parameters).output(made);
  program.templates[kGather] = gather.get();
  program.templates[kGather].operators.front().purpose = step::OperatorPurpose::kGatherParameters;
  EXPECT_THAT(run(program, three_forward(2)).at_peak, ElementsAre(240 + 100, 0, 1000, 2000));
}

// Copies from the host in front of a gather, whose stream it then has, change nothing of it.
TEST(TemplateSequenceMemory, HoldsWhatAGatherOfHostParametersHasMadeUntilTheNext) {
  step::StepProgram program = overlapped();
  Piece gather;
  const step::TensorId parameters = gather.tensor(1000, step::TensorPurpose::kGathered);
  const step::TensorId made = gather.tensor(1000, step::TensorPurpose::kCommunication);
  gather.op({}, {}, step::DeviceStream::kFromHost).op({}, {}, step::DeviceStream::kGather);
  gather.output(parameters).output(made);
  program.templates[kGather] = gather.get();
  program.templates[kGather].operators.back().purpose = step::OperatorPurpose::kGatherParameters;
  EXPECT_THAT(run(program, three_forward(2)).at_peak, ElementsAre(240 + 100, 0, 1000, 2000));
}

TEST(TemplateSequenceMemory, OnTheComputeStreamTakesItemsInTheirOrder) {
  EXPECT_THAT(run(in_turn(), three_forward(2)).at_peak, ElementsAre(360, 0, 1000, 0));
}

// Gathers that wait for nothing are all there from the start.
TEST(TemplateSequenceMemory, LetsGathersRunAsEarlyAsTheProgramAllows) {
  EXPECT_THAT(run(overlapped(), three_forward(3)).at_peak, ElementsAre(120, 0, 3000, 0));
}

// dy and dx take 100 each in addition to the saved tensors, the weights and the gradients. The
// second layer is allocated in addition to 120 that the first one returned.
TEST(TemplateSequenceMemory, OfABackwardStandsBesideWhatWasSaved) {
  const TemplateSequenceMemory found = run(in_turn(), two_backward());
  EXPECT_THAT(found.at_peak, ElementsAre(200, 0, 2000, 0));
  EXPECT_THAT(found.left, ElementsAre(-240, 0, 0, 0));
}

// During the second layer the first one's gradients are still being reduced.
TEST(TemplateSequenceMemory, HoldsGradientsWhileTheirReductionOverlaps) {
  const TemplateSequenceMemory found = run(overlapped(), two_backward());
  EXPECT_THAT(found.at_peak, ElementsAre(200 - 120, 0, 3000, 0));
}

TEST(TemplateSequenceMemory, GivesAnInputThatNobodyMadeToItsItemOnly) {
  const auto orphan = item(kSend, {}, {{-1, 0}});
  EXPECT_THAT(run(in_turn(), {orphan, orphan}).at_peak, ElementsAre(100, 0, 0, 0));
}

TEST(TemplateSequenceMemory, FreesWhatNobodyTakesAtTheEnd) {
  const TemplateSequenceMemory found =
      run(in_turn(), {item(kReceive), item(kReceive, {0}), item(kGather)});
  EXPECT_THAT(found.at_peak, ElementsAre(200, 0, 1000, 0));
  EXPECT_THAT(found.left, ElementsAre(0, 0, 0, 0));
}

}  // namespace
}  // namespace stepwright::memory
