#include <gtest/gtest.h>

#include <algorithm>

namespace stepwright::fit {
namespace {

/// Microseconds of an operator, forward and backward.
struct Both {
  double forward = 0, backward = 0;
};

/// The time composition of arXiv 2509.22832 (public repository DebarghaG/estimate-train-time),
/// written out: the slowest stage determines the pace of 1F1B, everything is recomputed, transfers
/// are serial.
struct Composition {
  Both encoder, embedding, head, loss, norm;
  double tensor_reduce = 0, transfer = 0, data_reduce = 0, data_gather = 0, update = 0;
  int first_layers = 0, middle_layers = 0, last_layers = 0;
  int stages = 0, micro_batches = 0;

  [[nodiscard]] Both first() const {
    return {embedding.forward + tensor_reduce + first_layers * encoder.forward,
            embedding.backward + first_layers * encoder.backward};
  }
  [[nodiscard]] Both middle() const {
    return {middle_layers * encoder.forward, middle_layers * encoder.backward};
  }
  [[nodiscard]] Both last() const {
    const double forward = norm.forward + head.forward + loss.forward;
    const double backward = norm.backward + head.backward + loss.backward;
    return {last_layers * encoder.forward + forward, last_layers * encoder.backward + backward};
  }
  [[nodiscard]] double step() const {
    const double forward =
        std::max({first().forward + transfer, middle().forward + transfer, last().forward});
    const double backward =
        std::max({first().backward, middle().backward + transfer, last().backward + transfer});
    return (micro_batches - 1 + stages) * (forward + backward) + data_reduce + data_gather + update;
  }
};

/// Returns Llemma-7B on 4 stages, 2 tensor ranks, 2 replicas of A100, with the authors' own times
/// and results.
Composition llemma() {
  const Both operators[] = {{3275, 5941}, {746, 1843}, {2752, 8598}, {532, 1499},
                            {4279, 7451}, {366, 493},  {3803, 7532}, {828, 3905},
                            {828, 3905},  {232, 232},  {232, 232}};
  Composition c{.embedding = {939, 2064},
                .head = {13240, 23536},
                .loss = {3507, 1142},
                .norm = {828, 3905},
                .tensor_reduce = 2067,
                .transfer = 23223,
                .data_reduce = 24405,
                .data_gather = 18607,
                .update = 23469,
                .first_layers = 8,
                .middle_layers = 9,
                .last_layers = 6,
                .stages = 4,
                .micro_batches = 8};
  for (const Both& op : operators) {
    c.encoder.forward += op.forward;
    c.encoder.backward += op.backward;
  }
  c.encoder.forward += 2 * c.tensor_reduce;
  c.encoder.backward += 2 * c.tensor_reduce + c.encoder.forward;
  return c;
}

TEST(PublishedComposition, GivesTheAuthorsEncoder) {
  // Their operators are printed in whole microseconds; eleven of them and two reductions.
  EXPECT_NEAR(llemma().encoder.forward, 22'006, 2);
  EXPECT_NEAR(llemma().encoder.backward, 67'770, 3);
}

TEST(PublishedComposition, GivesTheAuthorsStagesAndStep) {
  Composition c = llemma();
  // Their encoder as their first stage has it, before rounding: (179,055 - 939 - 2,067) / 8.
  c.encoder = {176'049 / 8.0, 67'770};
  EXPECT_NEAR(c.first().forward, 179'055, 1);
  EXPECT_NEAR(c.middle().forward, 198'055, 1);
  EXPECT_NEAR(c.last().forward, 149'611, 1);
  EXPECT_NEAR(c.first().backward, 544'224, 1);
  EXPECT_NEAR(c.middle().backward, 609'930, 1);
  EXPECT_NEAR(c.last().backward, 435'203, 1);
  EXPECT_NEAR(c.step(), 9'465'235, 12);
}

}  // namespace
}  // namespace stepwright::fit
