#include "stepwright/schedule/closed_form.h"

#include <numeric>

namespace stepwright::schedule {

double PipelinePositionSeconds::micro_batch_round_trip_s() const {
  return std::accumulate(forward.begin(), forward.end(), 0.0) +
         std::accumulate(backward.begin(), backward.end(), 0.0);
}

}  // namespace stepwright::schedule
