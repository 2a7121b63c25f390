#pragma once

#include <ATen/ATen.h>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// A message of a collective operator, or a step of a ring, whose buffers have no values.
class HeldMessage {
 public:
  /// A full buffer of about `bytes` in a group of `ranks`; parts are equal and not empty.
  HeldMessage(const step::Operator& op, double bytes, std::int64_t ranks);

  /// Once, as the operator says.
  void send(Communicator& group);
  /// The bytes of the full buffer, rounded to whole parts.
  [[nodiscard]] double bytes() const { return static_cast<double>(whole_.nbytes()); }

 private:
  const step::Operator& op_;
  at::Tensor whole_;
  at::Tensor other_;  ///< A part, or what comes in.
};

/// A buffer of about so many bytes without values, which so many equal parts make up.
at::Tensor held_buffer(double bytes, std::int64_t parts);

}  // namespace stepwright::runtime
