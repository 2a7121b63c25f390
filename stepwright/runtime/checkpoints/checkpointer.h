#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "stepwright/checkpoint/directory.h"
#include "stepwright/runtime/checkpoints/checkpoint_states.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Writes checkpoints of a run while it goes on: `save` takes a copy, a thread writes it; when all
/// ranks have written, rank 0 commits. All ranks make one and call its members in the same steps.
class Checkpointer {
 public:
  /// `run`: what all checkpoints have in common. Fails with `kInput`, on every rank, when another
  /// run writes to the directory, it cannot be written, or it holds checkpoints that the options do
  /// not say to continue.
  Checkpointer(RankState& rank, const Groups::World& world, checkpoint::CheckpointRun run);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Continues from the last checkpoint with --resume: loads the last committed checkpoint, if
  /// there is one, after every rank has verified its share of the files; sets the rank's step.
  /// Returns from where the run goes on, for a person. Fails with `kInput`.
  std::string resume();
  /// Writes the states after `step` steps. Waits for the checkpoint before. Fails with `kRuntime`
  /// when that one could not be committed.
  void save(std::int64_t step);
  /// Fails with `kRuntime` when a checkpoint could not be committed; waits for nothing.
  void check();
  /// Waits until the last one is committed.
  void finish();

 private:
  void open();
  void check_run(const checkpoint::ShardReader& reader) const;
  void check_data(const checkpoint::ShardReader& reader) const;
  void write(StateCopy copy, std::int64_t step);
  void tell_failure_of(std::int64_t step, const std::string& why);
  void commit_parts(const std::filesystem::path& writing, std::int64_t step);
  [[nodiscard]] std::string wait_for(const std::string& key);

  RankState& rank_;
  const Groups::World& world_;
  checkpoint::CheckpointRun run_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::unique_ptr<checkpoint::DirectoryLock> lock_;  ///< Held on rank 0 only.
  std::string token_;                                ///< Mark of this run.
  std::string last_;                                 ///< The checkpoint to continue; empty: none.
  std::thread writer_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> ends_ = false;
  std::exception_ptr failure_;
};

}  // namespace stepwright::runtime
