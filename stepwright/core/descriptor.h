#pragma once

#include <string_view>
#include <utility>

namespace stepwright {

/// Throws `kRuntime`: what could not be done, and why by `errno`.
[[noreturn]] void fail_system(const char* what);

/// A file descriptor that is closed when its owner goes; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void close();
  /// Gives the descriptor away: the caller closes it.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// The result of a system call, unless it failed: then as `fail_system`.
int checked(int result, const char* what);

/// Writes all bytes, however few the system takes at a time; false if it does not take them, with
/// the reason in `errno`.
bool write_all(int descriptor, std::string_view bytes);

/// Opens /dev/null in the place of each standard stream that is closed, the wrong way round, so
/// that no other file gets its number and a use of it still fails. For the start of a program.
void fill_standard_streams();

/// Both ends of a pipe, which programs that are started do not inherit.
struct Pipe {
  Pipe();
  Descriptor read;
  Descriptor write;
};

}  // namespace stepwright
