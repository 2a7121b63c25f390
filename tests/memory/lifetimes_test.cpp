#include "stepwright/memory/lifetimes.h"

#include <gmock/gmock.h>

#include "tests/memory/pieces.h"

namespace stepwright::memory {
namespace {

using ::testing::ElementsAre;
using testing::Piece;

TEST(OperatorTemplateMemory, OfNothingIsNothing) {
  const OperatorTemplateMemory found = template_memory_footprint(step::OperatorTemplate{}, 1.0);
  EXPECT_EQ(found.peak_bytes, 0);
  EXPECT_THAT(found.retained, ElementsAre(0, 0, 0, 0));
}

// x(10) -> a(100) -> b(1000) -> y(1): a and b are alive together; x is freed after the first
// operator, and a before y is made.
TEST(OperatorTemplateMemory, FreesATensorAfterItsLastReader) {
  Piece piece;
  const step::TensorId x = piece.input(10);
  const step::TensorId a = piece.tensor(100);
  const step::TensorId b = piece.tensor(1000);
  const step::TensorId y = piece.tensor(1);
  piece.op({x}, {a}).op({a}, {b}).op({b}, {y}).output(y);
  const OperatorTemplateMemory found = template_memory_footprint(piece.get(), 1.0);
  EXPECT_EQ(found.peak_bytes, 1100);
  EXPECT_EQ(found.input_bytes, 10);
  EXPECT_EQ(found.output_bytes, 1);
}

TEST(OperatorTemplateMemory, KeepsASavedInputUntilTheEnd) {
  Piece piece;
  const step::TensorId x = piece.input(10);
  const step::TensorId a = piece.tensor(100);
  const step::TensorId b = piece.tensor(1000);
  piece.op({x}, {a}).op({a}, {b}).save(x);
  const OperatorTemplateMemory found = template_memory_footprint(piece.get(), 1.0);
  EXPECT_EQ(found.peak_bytes, 1110);
  EXPECT_THAT(found.retained, ElementsAre(10, 0, 0, 0));
}

TEST(OperatorTemplateMemory, KeepsAnOutputThatIsMadeEarly) {
  Piece piece;
  const step::TensorId x = piece.input(1);
  const step::TensorId early = piece.tensor(10);
  const step::TensorId scratch = piece.tensor(100);
  piece.op({x}, {early}).op({}, {scratch}).output(early);
  EXPECT_EQ(template_memory_footprint(piece.get(), 1.0).peak_bytes, 110);
}

TEST(OperatorTemplateMemory, HoldsAnInputThatNoOperatorReadsToTheEnd) {
  Piece piece;
  piece.input(7, step::TensorPurpose::kGathered);
  const step::TensorId a = piece.tensor(100);
  piece.op({}, {a}).op({a}, {});
  EXPECT_THAT(template_memory_footprint(piece.get(), 1.0).at_peak, ElementsAre(100, 0, 7, 0));
}

TEST(OperatorTemplateMemory, HoldsAnOutputThatNoOperatorNamesFromTheBeginning) {
  Piece piece;
  piece.output(piece.tensor(7, step::TensorPurpose::kGathered));
  const step::TensorId a = piece.tensor(100);
  piece.op({}, {a}).op({a}, {});
  EXPECT_THAT(template_memory_footprint(piece.get(), 1.0).at_peak, ElementsAre(100, 0, 7, 0));
}

TEST(OperatorTemplateMemory, CountsATensorWrittenInPlaceOnce) {
  Piece piece;
  const step::TensorId x = piece.input(50);
  piece.op({x}, {x}).op({x, x}, {x}).output(x);
  EXPECT_EQ(template_memory_footprint(piece.get(), 1.0).peak_bytes, 50);
}

TEST(OperatorTemplateMemory, FreesWhatNobodyReadsAtOnce) {
  Piece piece;
  const step::TensorId a = piece.tensor(30);
  const step::TensorId b = piece.tensor(40);
  piece.op({}, {a}).op({}, {b});
  EXPECT_EQ(template_memory_footprint(piece.get(), 1.0).peak_bytes, 40);
}

TEST(OperatorTemplateMemory, HoldsRestoredTensorsUntilTheirLastReader) {
  Piece piece;
  const step::TensorId kept = piece.restored(10, step::TensorPurpose::kLogits);
  const step::TensorId later = piece.restored(20);
  const step::TensorId a = piece.tensor(100);
  const step::TensorId b = piece.tensor(1000);
  piece.op({kept}, {a}).op({later}, {b});
  const OperatorTemplateMemory found = template_memory_footprint(piece.get(), 1.0);
  EXPECT_THAT(found.restored, ElementsAre(20, 10, 0, 0));
  EXPECT_THAT(found.at_peak, ElementsAre(1020, 0, 0, 0));
}

TEST(OperatorTemplateMemory, GivesRoutedTensorsRoomForTheBusiestRank) {
  Piece piece;
  const step::TensorId routed = piece.tensor(101, step::TensorPurpose::kCommunication, true);
  const step::TensorId even = piece.tensor(101, step::TensorPurpose::kCommunication);
  piece.op({}, {routed, even}).save(routed);
  const OperatorTemplateMemory found = template_memory_footprint(piece.get(), 1.25);
  EXPECT_THAT(found.at_peak, ElementsAre(0, 0, 0, 101 + 127));
  EXPECT_THAT(found.retained, ElementsAre(0, 0, 0, 127));
}

}  // namespace
}  // namespace stepwright::memory
