#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace stepwright::checkpoint {

/// The size and checksum that a file should have.
struct FileSum {
  std::int64_t bytes = 0;
  std::string checksum;  ///< XXH3, 64 bits, 16 hexadecimal digits.
  bool operator==(const FileSum&) const = default;
};

/// The checksum of bytes, as in `FileSum`.
std::string checksum(std::span<const std::byte> bytes);
std::string checksum(const std::string& text);

/// The checksum of bytes that come part by part.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void add(std::span<const std::byte> bytes);
  /// The checksum of all bytes so far.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An `OutputFile` that counts its bytes and sums them up.
class DurableFile {
 public:
  /// Every member fails with `kRuntime`, naming the file and what the system says.
  explicit DurableFile(const std::filesystem::path& path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text);
  FileSum finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes names in a directory durable. Fails with `kRuntime`.
void sync_directory(const std::filesystem::path& path);

}  // namespace stepwright::checkpoint
