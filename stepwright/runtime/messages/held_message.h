#pragma once

#include <ATen/ATen.h>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// A message of a collective operator, or a step of a ring, with buffers that have no values.
class ValuelessMessage {
 public:
  /// Makes a full buffer of about `bytes` in a group of `ranks`; its parts are equal and not empty.
  ValuelessMessage(const step::Operator& op, double bytes, std::int64_t ranks);

  /// Runs the operator's collective once.
  void send(Communicator& group);
  /// Returns the bytes of the full buffer, rounded to whole parts.
  [[nodiscard]] double bytes() const { return static_cast<double>(whole_.nbytes()); }

 private:
  const step::Operator& op_;
  at::Tensor whole_;
  at::Tensor other_;  ///< One part of the buffer, or the received buffer.
};

/// Returns a buffer of about `bytes` bytes without values, made of `parts` equal parts.
at::Tensor valueless_buffer(double bytes, std::int64_t parts);

}  // namespace stepwright::runtime
