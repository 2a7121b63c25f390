#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace stepwright {

/// A value that is made when it is first asked for, by whichever thread asks; then constant.
template <class T>
class Later {
 public:
  explicit Later(T value) : value_(std::move(value)) {}
  explicit Later(std::function<T()> make) : make_(std::move(make)) {}

  /// Fails as `make` does, and makes it anew when asked again.
  const T& get() const {
    std::call_once(once_, [this] {
      if (make_) value_ = make_();
    });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
  std::function<T()> make_;
};

}  // namespace stepwright
