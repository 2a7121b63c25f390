#include "stepwright/checkpoint/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "stepwright/core/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace stepwright::checkpoint {
namespace {

[[noreturn]] void fail_writing(const std::filesystem::path& path, int error) {
  throw Error(ErrorKind::kRuntime, fmt::format("{}: cannot be written: {}", path.string(),
                                               std::generic_category().message(error)));
}

std::string hex(XXH64_hash_t value) { return fmt::format("{:016x}", value); }

}  // namespace

struct DurableFile::State {
  std::filesystem::path path;
  int file = -1;
  std::int64_t bytes = 0;
  RunningChecksum sum;
};

struct RunningChecksum::State {
  XXH3_state_t* sum = XXH3_createState();
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(state_->sum);
}

RunningChecksum::~RunningChecksum() { XXH3_freeState(state_->sum); }

void RunningChecksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_->sum, bytes.data(), bytes.size());
}

std::string RunningChecksum::text() const { return hex(XXH3_64bits_digest(state_->sum)); }

std::string checksum(std::span<const std::byte> bytes) {
  return hex(XXH3_64bits(bytes.data(), bytes.size()));
}

std::string checksum(const std::string& text) { return checksum(std::as_bytes(std::span(text))); }

DurableFile::DurableFile(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (state_->file < 0) fail_writing(path, errno);
}

DurableFile::~DurableFile() {
  if (state_->file >= 0) ::close(state_->file);
}

void DurableFile::write(std::span<const std::byte> bytes) {
  state_->sum.add(bytes);
  state_->bytes += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(state_->file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_writing(state_->path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void DurableFile::write(const std::string& text) { write(std::as_bytes(std::span(text))); }

FileSum DurableFile::finish() {
  if (::fsync(state_->file) != 0) fail_writing(state_->path, errno);
  if (::close(std::exchange(state_->file, -1)) != 0) fail_writing(state_->path, errno);
  return {state_->bytes, state_->sum.text()};
}

void sync_directory(const std::filesystem::path& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) fail_writing(path, errno);
  const int result = ::fsync(directory);
  const int error = errno;
  ::close(directory);
  if (result != 0) fail_writing(path, error);
}

}  // namespace stepwright::checkpoint
