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

/// Writes checkpoints of a run while it continues: `save` copies the states, a thread writes the
/// copy, and when all ranks have written, rank 0 commits. Every rank makes one, and all ranks call
/// the same members in the same steps.
class Checkpointer {
 public:
  /// `run`: the facts that all checkpoints of the run share. Fails with `kInput`, on every rank,
  /// when another run writes to the directory, when it cannot be written, or when it has
  /// checkpoints that the options do not say to continue.
  Checkpointer(RankState& rank, const Groups::World& world, checkpoint::CheckpointRun run);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// With --resume, loads the last committed checkpoint, if there is one, after every rank has
  /// verified its share of the files, and sets the rank's step. Returns, for people, where the run
  /// continues from. Fails with `kInput`.
  std::string resume();
  /// Starts to write the states after `step` steps. Waits until the previous checkpoint is
  /// committed; fails with `kRuntime` if that failed.
  void save(std::int64_t step);
  /// Fails with `kRuntime` if a checkpoint could not be committed; does not wait for one in
  /// progress.
  void check();
  /// Waits until the last checkpoint is committed.
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
  /// Lock of the directory, held on rank 0 only.
  std::unique_ptr<checkpoint::DirectoryLock> lock_;
  std::string token_;  ///< Name of this run, which no other run has.
  std::string last_;   ///< Name of the checkpoint to continue from; empty: none.
  std::thread writer_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> ends_ = false;
  std::exception_ptr failure_;
};

}  // namespace stepwright::runtime
