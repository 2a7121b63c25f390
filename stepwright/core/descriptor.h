#pragma once

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

 private:
  int descriptor_ = -1;
};

/// The result of a system call, unless it failed: then as `fail_system`.
int checked(int result, const char* what);

/// Both ends of a pipe, which programs that are started do not inherit.
struct Pipe {
  Pipe();
  Descriptor read;
  Descriptor write;
};

}  // namespace stepwright
