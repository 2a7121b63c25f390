#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "stepwright/simulate/timeline/prices.h"

namespace stepwright {

/// An operator with its price, as tests write it.
struct Line {
  double seconds = 0;
  OperatorKind kind = OperatorKind::kLinear;
  Stream stream = Stream::kCompute;
  Scheme scheme = Scheme::kNone;
  LinkClass link = LinkClass::kNone;
  GroupKind group = GroupKind::kNone;
  std::vector<std::int32_t> after{};
  std::string_view name{};
  Phase phase = Phase::kForward;
};

Line computation(double seconds, std::vector<std::int32_t> after = {});
Line tensor_message(double seconds, std::vector<std::int32_t> after = {});  ///< Inside the node.
Line reduction(double seconds, std::vector<std::int32_t> after = {});  ///< Data-parallel, network.
Line send(double seconds, bool backward, std::vector<std::int32_t> after = {});
Line receive(bool backward);

/// A program with its prices, written by hand.
struct Draft {
  StepProgram program;
  Prices prices;

  TemplateId add(std::initializer_list<Line> lines);
  TemplateId add(const std::vector<Line>& lines);
  /// Adds a stage; its position is its index.
  Stage& stage();
};

/// Adds a sequence of items, each after the one before it, and returns its index.
std::int32_t chain(Stage& stage, Direction direction, const std::vector<TemplateId>& templates,
                   std::int32_t chunk = 0);

/// One stage that plays these templates, one after the other, once.
Draft single(const std::vector<std::vector<Line>>& templates,
             Direction direction = Direction::kForward);

/// A pipeline: stage s computes forward_s[s] and backward_s[s] per micro-batch, messages between
/// neighbours take send_s on no shared link.
struct Pipeline {
  std::vector<double> forward_s;
  std::vector<double> backward_s;
  double send_s = 0;
  std::int32_t micro_batches = 1;
  bool gpipe = false;  ///< Otherwise 1F1B.
};
Draft draft(const Pipeline& pipeline);
/// The order of a stage: micro-batch numbers, backward ones as -1 - number.
std::vector<std::int32_t> pipeline_order(const Pipeline& pipeline, std::int32_t position);

}  // namespace stepwright
