#pragma once

#include <cstdint>
#include <string>

#include "stepwright/core/descriptor.h"
#include "stepwright/serve/connection.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// Gives one page of HTML to browsers of this machine, over HTTP/1.1 on the loopback interface.
class PageServer {
 public:
  /// Listens; port 0 takes any that is free. Fails with `kInput` when the port cannot be had.
  explicit PageServer(std::uint16_t port, const ServeLimits& limits = {});

  /// Address of the page, as "http://127.0.0.1:8017/".
  [[nodiscard]] std::string address() const;

  /// Answers until `stop_fd` is readable, and then returns at once. One thread that never waits for
  /// one browser alone: slow ones delay no other. While as many are connected as the limits allow,
  /// new ones wait until one of them ends.
  void run(const ServedPage& page, int stop_fd);

 private:
  ServeLimits limits_;
  Descriptor listening_;
};

}  // namespace stepwright::serve
