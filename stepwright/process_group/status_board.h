#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::process_group {

/// Lets the ranks of a group post, in the group's store, which collective failed on them, so that
/// each can say what the others were doing.
class StatusBoard {
 public:
  /// `rank`: this rank's number among the `size` ranks that share the store.
  StatusBoard(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size);

  /// Posts `call`, waits at most `grace` for the other ranks, and returns a sentence about those
  /// that did something else or posted nothing, or about a store that does not answer.
  std::string compare(const std::string& call, std::chrono::milliseconds grace);

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
};

}  // namespace stepwright::process_group
