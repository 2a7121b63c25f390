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

/// Writes checkpoints of a training run in the background: `start_checkpoint` copies the states, a
/// thread writes the copy, and rank 0 commits the checkpoint when all ranks have written. Every
/// rank has a Checkpointer, and all ranks call the same functions in the same steps.
class Checkpointer {
 public:
  /// `run`: the facts that all checkpoints of the run have in common. Fails with `kInput`, on every
  /// rank, if another run writes to the directory, if it cannot be written, or if it has
  /// checkpoints and the options do not say to continue from them.
  Checkpointer(RankState& rank, const RankCommunicators::RankWorld& world,
               checkpoint::CheckpointRunFacts run);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Loads the last committed checkpoint if `--resume` was given and there is one: every rank first
  /// verifies its share of the files, then takes over states and step number. Returns text for
  /// people that says where the run continues. Fails with `kInput`.
  std::string resume_from_last_checkpoint();
  /// Starts to write a checkpoint after `step` training steps. Waits first until the previous
  /// checkpoint is committed, and fails with `kRuntime` if that one could not be committed.
  void start_checkpoint(std::int64_t step);
  /// Fails with `kRuntime` if an earlier checkpoint could not be committed. Does not wait for a
  /// checkpoint that is still being written.
  void check();
  /// Waits until the checkpoint that is being written is committed.
  void finish();

 private:
  void open();
  void check_run(const checkpoint::CheckpointShardReader& reader) const;
  void check_data(const checkpoint::CheckpointShardReader& reader) const;
  void write(CheckpointStateCopy copy, std::int64_t step);
  void tell_failure_of(std::int64_t step, const std::string& why);
  void commit_parts(const std::filesystem::path& writing, std::int64_t step);
  [[nodiscard]] std::string wait_for(const std::string& key);

  RankState& rank_;
  const RankCommunicators::RankWorld& world_;
  checkpoint::CheckpointRunFacts run_;
  c10::intrusive_ptr<c10d::Store> store_;
  /// Lock of the checkpoint directory; null on all ranks but rank 0.
  std::unique_ptr<checkpoint::DirectoryLock> lock_;
  /// Text that is unique to this training run; it is part of the name of the folder in which an
  /// incomplete checkpoint is written.
  std::string token_;
  /// Path of the last committed checkpoint in the directory, from which a resumed run continues;
  /// empty: there is none.
  std::string last_;
  std::thread writer_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> ends_ = false;
  std::exception_ptr failure_;
};

}  // namespace stepwright::runtime
