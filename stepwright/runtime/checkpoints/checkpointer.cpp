#include "stepwright/runtime/checkpoints/checkpointer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/process_group/store_text.h"
#include "stepwright/runtime/messages/rendezvous.h"

namespace stepwright::runtime {

using process_group::put_text_into_c10d_store;

namespace {

/// Returns a name that no other run has.
std::string new_token() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{:x}-{}", now, ::getpid());
}

std::string shard_name(std::int64_t rank) { return fmt::format("rank-{:05}.safetensors", rank); }

}  // namespace

Checkpointer::Checkpointer(RankState& rank, const RankCommunicators::RankWorld& world,
                           checkpoint::CheckpointRunFacts run)
    : rank_(rank),
      world_(world),
      run_(std::move(run)),
      store_(world.size > 1 ? world.store->clone() : world.store) {
  std::string told;
  if (world_.rank == 0) {
    try {
      open();
      told = "+" + token_ + "\n" + last_;
    } catch (const Error& error) {
      told = std::string("-") + error.what();
    }
  }
  told = exchange_rank_texts(world, "checkpoint/open", told).front();
  if (told.front() == '-') fail_input(told.substr(1));
  const std::size_t end = told.find('\n');
  token_ = told.substr(1, end - 1);
  last_ = told.substr(end + 1);
}

Checkpointer::~Checkpointer() {
  ends_ = true;
  if (writer_.joinable()) writer_.join();
}

void Checkpointer::open() {
  const std::filesystem::path directory = rank_.options.checkpoint;
  lock_ = std::make_unique<checkpoint::DirectoryLock>(directory);
  const auto last = checkpoint::last_checkpoint(directory);
  if (last && !rank_.options.resume) {
    fail_input(
        fmt::format("--checkpoint: {} exists already; continue it with --resume, or name "
                    "another directory",
                    last->string()));
  }
  checkpoint::remove_uncommitted_checkpoints(directory);
  token_ = new_token();
  last_ = last ? last->string() : "";
}

/// Fails if the data differ from those of the checkpoint: with the same options it would be another
/// run under this one's name.
void Checkpointer::check_data(const checkpoint::CheckpointShardReader& reader) const {
  const checkpoint::CheckpointRunFacts& old = reader.index().run;
  const bool summed = !old.data_sum.empty();  // older versions wrote no checksum
  if (old.tokens == run_.tokens && (!summed || old.data_sum == run_.data_sum)) return;
  fail_input(
      fmt::format("{}: --data was {} ({} tokens, XXH3 {}), now it is {} ({} tokens, XXH3 {})",
                  reader.directory().string(), summed ? old.data : "another file", old.tokens,
                  summed ? old.data_sum : "unknown", run_.data, run_.tokens, run_.data_sum));
}

void Checkpointer::check_run(const checkpoint::CheckpointShardReader& reader) const {
  const checkpoint::CheckpointRunFacts& old = reader.index().run;
  const auto same = [&](const char* what, auto then, auto now) {
    if (then == now) return;
    fail_input(
        fmt::format("{}: {} was {}, now it is {}", reader.directory().string(), what, then, now));
  };
  same("--seed", old.seed, run_.seed);
  same("job.batch.length", old.length, run_.length);
  check_data(reader);
  if (!old.base.empty() && run_.base.empty()) {
    fail_input(fmt::format(
        "{}: it does not contain the frozen weights, which came from {}: give --weights-from again",
        reader.directory().string(), old.base));
  }
  const std::int64_t sequences = rank_.job.sequences;
  same("job.batch.sequences", old.step > 0 ? old.samples / old.step : sequences, sequences);
}

std::string Checkpointer::resume_from_last_checkpoint() {
  if (last_.empty()) {
    return fmt::format("{} contains no checkpoint yet: training begins with step 1",
                       rank_.options.checkpoint);
  }
  std::string said = "+";
  std::string note;
  try {
    checkpoint::CheckpointShardReader reader(last_);
    check_run(reader);
    const std::vector<checkpoint::CheckpointFileEntry>& files = reader.index().files;
    for (auto i = static_cast<std::size_t>(world_.rank); i < files.size();
         i += static_cast<std::size_t>(world_.size)) {
      reader.verify_shard_file(files[i]);
    }
    load_checkpoint_states(rank_, reader);
    rank_.step = reader.index().run.step;
    note = fmt::format("training continues from {} with step {}", last_, rank_.step + 1);
    if (reader.index().run.data_sum.empty()) {
      note +=
          "; it does not state its training data: only the number of tokens was compared with that "
          "of --data";
    }
  } catch (const Error& error) {
    said = std::string("-") + error.what();
  }
  for (const std::string& text : exchange_rank_texts(world_, "checkpoint/loaded", said)) {
    if (text.front() == '-') fail_input(text.substr(1));
  }
  return note;
}

void Checkpointer::start_checkpoint(std::int64_t step) {
  finish();
  writer_ = std::thread([this, copy = copy_states_to_host(rank_), step]() mutable {
    try {
      write(std::move(copy), step);
    } catch (const std::exception& error) {
      failure_ = std::current_exception();
      tell_failure_of(step, error.what());
      failed_ = true;
    }
  });
}

/// Tells the other ranks, which wait for this rank's part of a checkpoint, that it failed.
void Checkpointer::tell_failure_of(std::int64_t step, const std::string& why) try {
  put_text_into_c10d_store(*store_, fmt::format("checkpoint/{}/{}", step, world_.rank), "-" + why);
  if (world_.rank == 0)
    put_text_into_c10d_store(*store_, fmt::format("checkpoint/{}", step), "-" + why);
} catch (const std::exception&) {
  return;  // the process that serves the store died or hangs, which the watch of every rank notices
}

void Checkpointer::write(CheckpointStateCopy copy, std::int64_t step) {
  const auto writing =
      checkpoint::uncommitted_checkpoint_directory(rank_.options.checkpoint, step, token_);
  std::error_code error;
  std::filesystem::create_directories(writing, error);
  if (error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: cannot be made: {}", writing.string(), error.message()));
  }
  checkpoint::RankCheckpointPart part{.file = {.name = shard_name(world_.rank)},
                                      .tensors = std::move(copy.indexed)};
  part.file.sum = checkpoint::write_safetensors_file(writing / part.file.name, copy.tensors);
  put_text_into_c10d_store(*store_, fmt::format("checkpoint/{}/{}", step, world_.rank),
                           "+" + checkpoint::checkpoint_part_text(part));
  const std::string done = fmt::format("checkpoint/{}", step);
  if (world_.rank == 0) {
    commit_parts(writing, step);
    put_text_into_c10d_store(*store_, done, "+");
  } else if (const std::string said = wait_for(done); said.front() == '-') {
    throw Error(ErrorKind::kRuntime, said.substr(1));
  }
}

void Checkpointer::commit_parts(const std::filesystem::path& writing, std::int64_t step) {
  checkpoint::CheckpointIndex index{
      .run = run_, .dtype = checkpoint_state_dtype(rank_), .states = checkpoint_state_names(rank_)};
  index.run.step = step;
  index.run.samples = step * rank_.job.sequences;
  for (std::int64_t r = 0; r < world_.size; ++r) {
    const std::string said = wait_for(fmt::format("checkpoint/{}/{}", step, r));
    if (said.front() == '-') {
      throw Error(ErrorKind::kRuntime, fmt::format("rank {}: {}", r, said.substr(1)));
    }
    checkpoint::add_checkpoint_part(
        index, checkpoint::parse_checkpoint_part(std::string_view(said).substr(1)));
  }
  checkpoint::check_tensor_coverage(index, writing / checkpoint::kCheckpointIndexName);
  checkpoint::commit_checkpoint_folder(writing, rank_.options.checkpoint, index);
  if (rank_.options.keep_checkpoints > 0) {
    checkpoint::remove_old_checkpoints(rank_.options.checkpoint, rank_.options.keep_checkpoints);
  }
}

std::string Checkpointer::wait_for(const std::string& key) {
  while (!store_->check({key})) {
    if (ends_) throw Error(ErrorKind::kRuntime, "the run ended before its checkpoint was written");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return process_group::get_text_from_c10d_store(*store_, key);
}

void Checkpointer::check() {
  if (failed_) finish();
}

void Checkpointer::finish() {
  if (writer_.joinable()) writer_.join();
  if (failed_) std::rethrow_exception(failure_);
}

}  // namespace stepwright::runtime
