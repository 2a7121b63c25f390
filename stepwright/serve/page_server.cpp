#include "stepwright/serve/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::serve {
namespace {

constexpr int kWaiting = 128;  // browsers that wait in the kernel's queue

using Connections = std::vector<BrowserConnection>;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Returns the milliseconds until the first deadline, rounded up; -1: there is none.
int until_next(const Connections& open, BrowserConnection::Time now) {
  if (open.empty()) return -1;
  const auto first = std::ranges::min_element(open, {}, &BrowserConnection::connection_deadline)
                         ->connection_deadline();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(first, now) - now);
  return static_cast<int>(left.count());
}

/// Accepts waiting browsers as long as the limit of connections allows.
void accept_all(int listening, Connections& open, const BrowserConnectionLimits& limits,
                BrowserConnection::Time now) {
  while (open.size() < limits.connections) {
    FileDescriptor socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
      const bool no_descriptors = errno == EMFILE || errno == ENFILE;
      if (!no_descriptors) return;  // no browser waits, or it has left
      if (open.empty()) fail_system_call("accept a browser");
      open.erase(open.begin());
      continue;
    }
    open.emplace_back(std::move(socket), limits, now);
  }
}

}  // namespace

PageServer::PageServer(std::uint16_t port, const BrowserConnectionLimits& limits)
    : limits_(limits),
      listening_(checked_system_call(
          ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")) {
  const int yes = 1;  // a port is usable even if old connections on it have not expired
  ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listening_.get(), any, sizeof address) != 0 ||
      ::listen(listening_.get(), kWaiting) != 0) {
    fail_input(fmt::format(
        "port {} cannot be used: {}; choose another with --port, or any free one with --port 0",
        port, std::strerror(errno)));
  }
}

std::string PageServer::page_address() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  checked_system_call(::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size),
                      "ask for the port");
  return fmt::format("http://127.0.0.1:{}/", ntohs(address.sin_port));
}

void PageServer::serve_until_stopped(const ServedPage& page, int stop_fd) {
  Connections open;
  std::vector<pollfd> watched;
  while (true) {
    const bool room = open.size() < limits_.connections;
    watched = {{stop_fd, POLLIN, 0}, {listening_.get(), static_cast<short>(room ? POLLIN : 0), 0}};
    for (const BrowserConnection& one : open)
      watched.push_back({one.socket(), one.poll_events(), 0});
    const int ready =
        ::poll(watched.data(), watched.size(), until_next(open, std::chrono::steady_clock::now()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) fail_system_call("wait for browsers");
    if (watched[0].revents != 0) return;
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (watched[i + 2].revents != 0) open[i].advance_connection_without_blocking(page, now);
      open[i].close_if_timed_out(now);
    }
    std::erase_if(open, [](const BrowserConnection& one) { return one.is_over(); });
    if (room && watched[1].revents != 0) accept_all(listening_.get(), open, limits_, now);
  }
}

}  // namespace stepwright::serve
