#pragma once

#include <string>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// A data-parallel message over a group of `size` ranks. `elements`: number of elements of the full
/// buffer, cut into pieces of about `bucket` elements (0: one piece), each padded to equal shards.
struct BucketedGroupMessage {
  OperatorKind kind{};
  plan::CommunicatorKind group{};
  std::int64_t size = 1;
  std::int64_t elements = 0;
  DType dtype{};
  Phase phase{};
  DeviceStream stream = DeviceStream::kCompute;
  std::int64_t bucket = 0;
  std::string_view name;
  OperatorPurpose purpose{};
  ParallelismScheme scheme = ParallelismScheme::kData;
};

/// Builds a template of messages and copies that run one after the other; skips messages in groups
/// of one rank and empty messages.
class MessageTemplateBuilder {
 public:
  explicit MessageTemplateBuilder(std::string name) : builder(std::move(name), {}) {}

  void message(const BucketedGroupMessage& message);
  void compute(const Operator& op) { append(op); }
  /// Tensors that every operator appended to the template from now on reads.
  std::vector<TensorId> reads;
  /// Tensors that every operator appended to the template from now on writes.
  std::vector<TensorId> writes;

  OperatorTemplateBuilder builder;

 private:
  void append(const Operator& op);
  std::int32_t last_ = -1;
};

}  // namespace stepwright::step
