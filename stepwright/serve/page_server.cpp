#include "stepwright/serve/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/serve/request.h"

namespace stepwright::serve {
namespace {

constexpr int kWaiting = 16;           // browsers that the kernel lets wait
constexpr std::size_t kMostOpen = 64;  // connections; the oldest goes first
constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};

/// A browser that has connected and not yet said all that it wants.
struct Connection {
  Descriptor socket;
  std::string said;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Sends all of it, or what a browser takes that goes away or reads nothing for long.
void send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// Reads what is there; true when the connection has nothing more to do.
bool is_done(Connection& connection, std::string_view page) {
  char buffer[4096];
  const ssize_t size = ::recv(connection.socket.get(), buffer, sizeof buffer, 0);
  if (size <= 0) return true;
  connection.said.append(buffer, static_cast<std::size_t>(size));
  const std::optional<std::string> answer = http_answer(connection.said, page);
  if (!answer) return false;
  send_all(connection.socket.get(), *answer);
  ::shutdown(connection.socket.get(), SHUT_WR);
  return true;
}

void accept_one(int listening, std::vector<Connection>& open) {
  Descriptor socket(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) return;  // gone again
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (open.size() == kMostOpen) open.erase(open.begin());
  open.push_back({std::move(socket), {}});
}

}  // namespace

PageServer::PageServer(std::uint16_t port)
    : listening_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")) {
  const int yes = 1;  // a port whose last connections are still being forgotten is free
  ::setsockopt(listening_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listening_.get(), any, sizeof address) != 0 ||
      ::listen(listening_.get(), kWaiting) != 0) {
    fail_input(
        fmt::format("port {} cannot be used: {}; another is taken with --port, any free one "
                    "with --port 0",
                    port, std::strerror(errno)));
  }
}

std::string PageServer::address() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  checked(::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size),
          "ask for the port");
  return fmt::format("http://127.0.0.1:{}/", ntohs(address.sin_port));
}

void PageServer::run(std::string_view page, int stop_fd) {
  std::vector<Connection> open;
  while (true) {
    std::vector<pollfd> watched{{stop_fd, POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    for (const Connection& connection : open) {
      watched.push_back({connection.socket.get(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      fail_system("wait for browsers");
    }
    if (watched[0].revents != 0) return;
    for (std::size_t i = open.size(); i-- > 0;) {
      if (watched[i + 2].revents != 0 && is_done(open[i], page)) open.erase(open.begin() + i);
    }
    if (watched[1].revents != 0) accept_one(listening_.get(), open);
  }
}

}  // namespace stepwright::serve
