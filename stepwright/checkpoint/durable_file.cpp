#include "stepwright/checkpoint/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stepwright/core/output_file.h"
#include "stepwright/core/output_path.h"

#define XXH_INLINE_ALL
#ifndef NDEBUG  // Debug builds do not inline functions that must be inlined.
#define XXH_NO_INLINE_HINTS 1
#endif
#include <xxhash.h>

namespace stepwright::checkpoint {
namespace {

std::string hex(XXH64_hash_t value) { return fmt::format("{:016x}", value); }

}  // namespace

struct DurableFile::State {
  explicit State(const std::filesystem::path& path) : file(path) {}

  OutputFile file;
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

DurableFile::DurableFile(const std::filesystem::path& path)
    : state_(std::make_unique<State>(path)) {}

DurableFile::~DurableFile() = default;

void DurableFile::write(std::span<const std::byte> bytes) {
  state_->sum.add(bytes);
  state_->bytes += static_cast<std::int64_t>(bytes.size());
  state_->file.write(bytes);
}

void DurableFile::write(const std::string& text) { write(std::as_bytes(std::span(text))); }

FileChecksum DurableFile::finish() {
  state_->file.finish();
  return {state_->bytes, state_->sum.text()};
}

void sync_directory(const std::filesystem::path& path) {
  const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open() || ::fsync(directory.get()) != 0) fail_to_write(path);
}

}  // namespace stepwright::checkpoint
