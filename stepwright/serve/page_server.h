#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/descriptor.h"
#include "stepwright/serve/connection.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// Serves one HTML page to browsers on this machine, over HTTP/1.1 on the loopback interface.
class PageServer {
 public:
  /// Listens for browsers on a TCP port of this machine; 0: any free port. Fails with `kInput` if
  /// the port cannot be used.
  explicit PageServer(std::uint16_t port, const BrowserConnectionLimits& limits = {});

  /// Returns the address of the page: "http://127.0.0.1:8017/".
  [[nodiscard]] std::string page_address() const;

  /// Answers requests until the file descriptor `stop_fd` becomes readable, then returns at once.
  /// One thread serves all browsers. At the limit of connections, new browsers wait until one is
  /// closed.
  void serve_until_stopped(const ServedPage& page, int stop_fd);

 private:
  BrowserConnectionLimits limits_;
  FileDescriptor listening_;
};

}  // namespace stepwright::serve
