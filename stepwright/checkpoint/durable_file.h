#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace stepwright::checkpoint {

/// Size in bytes and checksum of a file, to verify it later.
struct FileChecksum {
  std::int64_t bytes = 0;
  std::string checksum;  ///< XXH3 checksum of 64 bits, as 16 hexadecimal digits.
  bool operator==(const FileChecksum&) const = default;
};

/// Returns the 64-bit XXH3 checksum of bytes (or of a text) as 16 hexadecimal digits.
std::string checksum(std::span<const std::byte> bytes);
std::string checksum(const std::string& text);

/// A checksum computed over bytes that arrive in several parts.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void add(std::span<const std::byte> bytes);
  /// Returns the checksum of all bytes added so far, as 16 hexadecimal digits.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A file that is flushed to disk and appears under its name only when complete; it also counts its
/// bytes and computes their checksum.
class DurableFile {
 public:
  /// Opens the file for writing. Every member function fails with `kRuntime`, naming the file and
  /// the system's error.
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

/// Flushes a directory to disk, so that the names of files in it survive a crash. Fails with
/// `kRuntime`.
void sync_directory(const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
