#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace stepwright::checkpoint {

/// The size and checksum of a file.
struct FileChecksum {
  std::int64_t bytes = 0;
  std::string checksum;  ///< XXH3 checksum of 64 bits, as 16 hexadecimal digits.
  bool operator==(const FileChecksum&) const = default;
};

/// Returns the checksum of bytes or text, as in `FileChecksum`.
std::string checksum(std::span<const std::byte> bytes);
std::string checksum(const std::string& text);

/// A checksum of bytes that arrive in parts.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void add(std::span<const std::byte> bytes);
  /// Returns the checksum of all bytes so far.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An `OutputFile` that counts its bytes and computes their checksum.
class DurableFile {
 public:
  /// Opens the file. Every member fails with `kRuntime`, naming the file and the system's message.
  explicit DurableFile(const std::filesystem::path& path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  FileChecksum finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Syncs a directory, so that the names in it are durable. Fails with `kRuntime`.
void sync_directory(const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
