#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::process_group {

/// The board on which the ranks of a group leave word of a collective that failed, in the group's
/// store, so that each can say what the others were doing.
class StatusBoard {
 public:
  /// `rank` of `size` ranks that share the store.
  StatusBoard(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size);

  /// Leaves `call`, waits at most `grace` for the others and returns a sentence on those that did
  /// something else or said nothing, or says that the store does not answer.
  std::string compare(const std::string& call, std::chrono::milliseconds grace);

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
};

}  // namespace stepwright::process_group
