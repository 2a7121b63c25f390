#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/core/descriptor.h"

namespace stepwright::serve {

/// Gives one page of HTML to browsers of this machine, over HTTP/1.1 on the loopback interface.
class PageServer {
 public:
  /// Listens; port 0 takes any that is free. Fails with `kInput` when the port cannot be had.
  explicit PageServer(std::uint16_t port);

  /// "http://127.0.0.1:8017/".
  [[nodiscard]] std::string address() const;

  /// Answers until `stop_fd` is readable. `GET /` and `HEAD /` have the page, other paths are not
  /// found, other methods not allowed. One thread; a browser that says nothing delays no other.
  void run(std::string_view page, int stop_fd);

 private:
  Descriptor listening_;
};

}  // namespace stepwright::serve
