#include "stepwright/schedule/kinds/route_writer.h"

namespace stepwright::schedule {

PipelineWorkPart TwoRouteScheduleWriter::data_gradient(std::size_t route) {
  waiting_.push_back(part_(Direction::kWeightGradient, route, backwards_[route]));
  return part_(Direction::kDataGradient, route, backwards_[route]++);
}

void TwoRouteScheduleWriter::append_split_backward(std::size_t route) {
  const std::int64_t i = backwards_[route]++;
  alone(part_(Direction::kDataGradient, route, i));
  alone(part_(Direction::kWeightGradient, route, i));
}

PipelineWorkPart TwoRouteScheduleWriter::weight_gradient() {
  const PipelineWorkPart part = waiting_.front();
  waiting_.pop_front();
  return part;
}

}  // namespace stepwright::schedule
