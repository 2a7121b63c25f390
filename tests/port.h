#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <stdexcept>
#include <string>

#include "stepwright/core/descriptor.h"

namespace stepwright {

/// A port of this machine that is reserved while this object lives: the system assigns it to no
/// other program, but a server of this test can listen on it (both allow the address to be reused).
class Port {
 public:
  Port() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), place, size) != 0 ||
        ::getsockname(socket_.get(), place, &size) != 0) {
      throw std::runtime_error("no free port");
    }
    number_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::string text() const { return std::to_string(number_); }

 private:
  FileDescriptor socket_;
  int number_ = 0;
};

}  // namespace stepwright
