#pragma once

#include <ATen/ATen.h>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// A collective message, or one step of a ring, whose buffers have no meaningful values; emulations
/// send it.
class EmulatedMessage {
 public:
  /// Allocates buffers for a message of about `bytes` payload bytes in a group of `ranks` ranks:
  /// equal parts, none empty.
  EmulatedMessage(const step::Operator& op, double bytes, std::int64_t ranks);

  /// Sends the message once: runs the operator's collective on `group`.
  void start_send_if_not_started(Communicator& group);
  /// Returns the payload bytes of the emulated message, rounded to whole equal parts.
  [[nodiscard]] double bytes() const { return static_cast<double>(whole_.nbytes()); }

 private:
  const step::Operator& op_;
  at::Tensor whole_;
  /// One rank's equal part of the message's buffer, or the buffer for received data.
  at::Tensor other_;
};

/// Allocates a tensor of about `bytes` bytes with undefined values, which divides into `parts`
/// equal parts, for a message of an emulated run.
at::Tensor emulated_buffer(double bytes, std::int64_t parts);

}  // namespace stepwright::runtime
