#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::process_group {

/// Finds out, after a collective failed, which ranks called something else or are silent: each rank
/// posts in the group's store which of its calls failed, and reads what the others have posted.
class RankStatusBoard {
 public:
  /// `rank`: this rank's number among the `size` ranks that share the store.
  RankStatusBoard(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size);

  /// Posts that `call` failed on this rank, waits at most `grace` for the posts of the others, and
  /// returns a sentence about ranks that called something else or posted nothing, or about a store
  /// that does not answer.
  std::string compare_failed_calls(const std::string& call, std::chrono::milliseconds grace);

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int size_;
};

}  // namespace stepwright::process_group
