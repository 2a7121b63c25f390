#include "stepwright/runtime/messages/held_message.h"

#include <algorithm>
#include <cmath>

namespace stepwright::runtime {

at::Tensor emulated_buffer(double bytes, std::int64_t parts) {
  const double each = bytes / static_cast<double>(parts) / sizeof(float);
  const std::int64_t elements = std::max<std::int64_t>(1, std::llround(each)) * parts;
  return at::zeros({elements}, at::TensorOptions(at::kFloat));
}

EmulatedMessage::EmulatedMessage(const step::Operator& op, double bytes, std::int64_t ranks)
    : op_(op), whole_(emulated_buffer(bytes, ranks)) {
  const bool cuts =
      op.kind == step::OperatorKind::kAllGather || op.kind == step::OperatorKind::kReduceScatter;
  other_ = at::zeros({cuts ? whole_.numel() / ranks : whole_.numel()}, whole_.options());
}

void EmulatedMessage::start_send_if_not_started(Communicator& group) {
  switch (op_.kind) {
    case step::OperatorKind::kAllReduce: return group.all_reduce(op_, whole_);
    case step::OperatorKind::kAllGather: return group.all_gather(op_, whole_, other_);
    case step::OperatorKind::kReduceScatter: return group.reduce_scatter(op_, other_, whole_);
    case step::OperatorKind::kAllToAll: return group.all_to_all(op_, other_, whole_);
    case step::OperatorKind::kBroadcast: return group.broadcast(op_, whole_, 0);
    default: return group.exchange_with_ring_neighbours(op_, whole_, other_);
  }
}

}  // namespace stepwright::runtime
