#include "stepwright/checkpoint/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"

namespace stepwright::checkpoint {
namespace {

constexpr std::string_view kCommittedPrefix = "step-";
constexpr std::string_view kWritingPrefix = ".writing-";

/// True if a folder has an index; false also if it cannot be examined.
bool is_committed(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / kCheckpointIndexName, error);
}

/// Returns the step in a checkpoint's name; nullopt for other names.
std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kCommittedPrefix)) return std::nullopt;
  name.remove_prefix(kCommittedPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return step;
}

[[noreturn]] void refuse_directory(const std::filesystem::path& path, int error) {
  fail_input(fmt::format("{}: cannot be written: {}", path.string(),
                         std::generic_category().message(error)));
}

}  // namespace

std::string checkpoint_folder_name(std::int64_t step) {
  return fmt::format("{}{:08}", kCommittedPrefix, step);
}

std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& directory) {
  std::optional<std::filesystem::path> last;
  std::int64_t highest = -1;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const auto step = step_of(entry.path().filename().string());
    if (!step || *step <= highest || !is_committed(entry.path())) continue;
    highest = *step;
    last = entry.path();
  }
  return last;
}

std::filesystem::path find_checkpoint(const std::filesystem::path& path) {
  if (path_exists(path / kCheckpointIndexName)) return path;
  if (const auto last = last_checkpoint(path)) return *last;
  fail_input(
      fmt::format("{}: {}", path.string(),
                  path_exists(path) ? "holds no committed checkpoint" : "no such file or folder"));
}

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) refuse_directory(directory, error.value());
  const std::filesystem::path path = directory / ".lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) refuse_directory(directory, errno);
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(file_);
  if (reason != EWOULDBLOCK) refuse_directory(path, reason);
  fail_input(fmt::format("{}: another run writes its checkpoints here", directory.string()));
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

std::filesystem::path uncommitted_checkpoint_directory(const std::filesystem::path& directory,
                                                       std::int64_t step, const std::string& run) {
  return directory / fmt::format("{}{}-{}", kWritingPrefix, checkpoint_folder_name(step), run);
}

void remove_uncommitted_checkpoints(const std::filesystem::path& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(kWritingPrefix)) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
}

void commit_checkpoint_folder(const std::filesystem::path& writing,
                              const std::filesystem::path& directory,
                              const CheckpointIndex& index) {
  DurableFile file(writing / kCheckpointIndexName);
  file.write(checkpoint_index_text(index));
  file.finish();
  sync_directory(writing);
  const std::filesystem::path committed = directory / checkpoint_folder_name(index.run.step);
  std::error_code error;
  std::filesystem::rename(writing, committed, error);
  if (error) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: cannot be committed: {}", committed.string(), error.message()));
  }
  sync_directory(directory);
}

void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep) {
  std::map<std::int64_t, std::filesystem::path> committed;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const auto step = step_of(entry.path().filename().string());
    if (step && is_committed(entry.path())) committed[*step] = entry.path();
  }
  while (std::ssize(committed) > keep) {
    const auto oldest = committed.begin();
    const auto gone = uncommitted_checkpoint_directory(directory, oldest->first, "old");
    std::filesystem::rename(oldest->second, gone, error);
    if (!error) std::filesystem::remove_all(gone, error);
    committed.erase(oldest);
  }
}

}  // namespace stepwright::checkpoint
