#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"

namespace stepwright::simulate {

/// An operator and its price, as tests write it.
struct Line {
  double seconds = 0;
  step::OperatorKind kind = step::OperatorKind::kLinear;
  step::DeviceStream stream = step::DeviceStream::kCompute;
  step::ParallelismScheme scheme = step::ParallelismScheme::kNone;
  cost::LinkClass link = cost::LinkClass::kNone;
  plan::CommunicatorKind group = plan::CommunicatorKind::kNone;
  std::vector<std::int32_t> after{};
  std::string_view name{};
  step::Phase phase = step::Phase::kForward;
};

Line computation(double seconds, std::vector<std::int32_t> after = {});
/// Returns a message on links inside the node.
Line tensor_message(double seconds, std::vector<std::int32_t> after = {});
/// Returns a data-parallel message on the network.
Line reduction(double seconds, std::vector<std::int32_t> after = {});
Line send(double seconds, bool backward, std::vector<std::int32_t> after = {});
Line receive(bool backward);

/// A program and its prices, written by hand.
struct Draft {
  step::StepProgram program;
  Prices prices;

  step::TemplateId add(std::initializer_list<Line> lines);
  step::TemplateId add(const std::vector<Line>& lines);
  /// Adds a stage, whose position is its index.
  step::PipelineStageProgram& stage();
};

/// Adds a sequence of items, each of which waits for the previous one; returns the sequence's
/// index.
std::int32_t chain(step::PipelineStageProgram& stage, schedule::Direction direction,
                   const std::vector<step::TemplateId>& templates, std::int32_t chunk = 0);

/// Returns a program with one stage that runs these templates once, one after the other.
Draft single(const std::vector<std::vector<Line>>& templates,
             schedule::Direction direction = schedule::Direction::kForward);

/// A pipeline: stage s computes for forward_s[s] and backward_s[s] per micro-batch; a message to a
/// neighbour takes send_s, on no shared link.
struct Pipeline {
  std::vector<double> forward_s;
  std::vector<double> backward_s;
  double send_s = 0;
  std::int32_t micro_batches = 1;
  bool gpipe = false;  ///< True for GPipe, false for 1F1B.
};
Draft draft(const Pipeline& pipeline);
/// Returns the order of a stage: micro-batch numbers, where -1 - number means its backward pass.
std::vector<std::int32_t> pipeline_order(const Pipeline& pipeline, std::int32_t position);

}  // namespace stepwright::simulate
