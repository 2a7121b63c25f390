#include <gtest/gtest.h>

#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/found/all_turns.h"
#include "stepwright/simulate/timeline/engine.h"
#include "tests/simulate/timeline/draft.h"

namespace stepwright::simulate {
namespace {

struct ZeroBubble {
  std::int32_t stages;
  std::int32_t micro_batches;
  double forward_s, data_s, weight_s;
};

/// Returns the program for ZB-H1's turns, with messages that take no time.
Draft zero_bubble_draft(const ZeroBubble& z) {
  Draft draft;
  for (std::int32_t s = 0; s < z.stages; ++s) {
    const auto piece = [&](double seconds, bool backward, bool receives, bool sends) {
      std::vector<step::TemplateId> ids;
      if (receives) ids.push_back(draft.add({receive(backward)}));
      ids.push_back(draft.add({computation(seconds)}));
      if (sends) ids.push_back(draft.add({send(0, backward)}));
      return ids;
    };
    const bool first = s == 0;
    const bool last = s + 1 == z.stages;
    const auto forward = piece(z.forward_s, false, !first, !last);
    const auto data = piece(z.data_s, true, !last, !first);
    const auto weight = piece(z.weight_s, true, false, false);
    step::PipelineStageProgram& stage = draft.stage();
    chain(stage, schedule::Direction::kForward, forward);
    chain(stage, schedule::Direction::kDataGradient, data);
    chain(stage, schedule::Direction::kWeightGradient, weight);
    const schedule::PipelineSchedule schedule{.kind = schedule::PipelineScheduleKind::kZeroBubbleH1,
                                              .chunks = 1};
    for (const schedule::PipelineWorkPart& part :
         schedule::work_items_in_issue_order(schedule::schedule_turns_of_positions(
             schedule, z.stages, z.micro_batches)[static_cast<std::size_t>(s)])) {
      const bool waits = part.direction == schedule::Direction::kWeightGradient;
      const std::int32_t sequence = part.direction == schedule::Direction::kForward ? 0
                                    : waits                                         ? 2
                                                                                    : 1;
      stage.schedule.push_back({sequence, part.micro_batch});
    }
  }
  return draft;
}

// m (F + B) + (p - 1) (F + B - 2 W), for m >= p, W <= F, W <= B - W (2401.10241); worked by hand
// for p = 4, m = 16, F = 1, B = 2, W = 1: 48 + 3.
TEST(ZeroBubble, PlayedWithStreamsTakesItsClosedForm) {
  for (const ZeroBubble& z : {ZeroBubble{4, 16, 1, 1, 1}, ZeroBubble{2, 2, 1, 1.5, 0.5},
                              ZeroBubble{3, 5, 1.25, 1.5, 1}, ZeroBubble{8, 24, 1, 1.25, 1}}) {
    const Draft draft = zero_bubble_draft(z);
    const double whole_s = z.forward_s + z.data_s + z.weight_s;
    EXPECT_NEAR(simulate::simulate_priced_program(draft.program, draft.prices,
                                                  cost::OverlapSlowdownFactors{}, false)
                    .step_time_s,
                z.micro_batches * whole_s + (z.stages - 1) * (whole_s - 2 * z.weight_s), 1e-9)
        << z.stages << " stages";
  }
}

}  // namespace
}  // namespace stepwright::simulate
