#pragma once

#include <string_view>
#include <utility>

namespace stepwright {

/// Throws an error of kind `kRuntime` for a failed system call: what could not be done (`what`) and
/// why (`errno`).
[[noreturn]] void fail_system_call(const char* what);

/// Owner of an open file descriptor, which is closed when the object is destroyed; -1: it owns
/// none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void close();
  /// Returns the file descriptor and gives up its ownership: the caller must close it.
  [[nodiscard]] int release_descriptor() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// Returns the result of a system call. If it is -1 (the call failed), throws an error of kind
/// `kRuntime` with `what` and the reason in `errno`.
int checked_system_call(int result, const char* what);

/// Writes all bytes to a file descriptor, in as many system calls as that takes. Returns false if
/// the system refuses bytes; `errno` then has the reason.
bool write_all_bytes(int descriptor, std::string_view bytes);

/// Opens /dev/null for each standard stream (input, output, error) that is closed, so that no file
/// opened later gets its number. It is opened in the wrong direction, so that using such a stream
/// still fails. Call it at the start of a program.
void open_closed_standard_streams();

/// Both ends of a pipe, which programs that this process starts do not inherit (O_CLOEXEC).
struct Pipe {
  Pipe();
  FileDescriptor read;
  FileDescriptor write;
};

}  // namespace stepwright
