#include "stepwright/lab/capacity.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "stepwright/lab/descriptor.h"
#include "stepwright/lab/missing.h"
#include "stepwright/lab/namespaces.h"
#include "stepwright/lab/topology.h"

namespace stepwright {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in address_at(std::int64_t node) {
  constexpr std::uint16_t kPort = 29501;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, nic_address(node, 0).c_str(), &address.sin_addr);
  return address;
}

/// A TCP socket of a node, prepared there by `prepare` (`bind`, `connect`).
template <class Prepare>
Descriptor socket_in(const std::string& lab, std::int64_t node, Prepare prepare) {
  const auto make = [&] {  // in a thread of its own, which alone moves to the node
    const std::string path = "/run/netns/" + node_namespace(lab, node);
    const Descriptor network(checked(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open a node"));
    checked(::setns(network.get(), CLONE_NEWNET), "enter a node");
    Descriptor socket(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket"));
    prepare(socket.get());
    return socket;
  };
  return std::async(std::launch::async, make).get();
}

Descriptor listen_at(const std::string& lab, std::int64_t node) {
  return socket_in(lab, node, [&](int socket) {
    const sockaddr_in address = address_at(node);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    checked(::bind(socket, generic, sizeof address), "bind a socket");
    checked(::listen(socket, SOMAXCONN), "listen");
  });
}

Descriptor connect_to(const std::string& lab, std::int64_t from, std::int64_t to) {
  return socket_in(lab, from, [&](int socket) {
    const sockaddr_in address = address_at(to);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    checked(::connect(socket, generic, sizeof address), "connect");
  });
}

/// Both ends of a connection.
struct Connection {
  Descriptor from;
  Descriptor to;
};

constexpr std::size_t kBlockBytes = std::size_t{1} << 17U;

/// Sends until the connection is shut down.
void send_all(int socket) {
  const std::vector<char> block(kBlockBytes);
  while (::send(socket, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
  }
}

/// Bytes received until the connection is shut down.
double receive_all(int socket) {
  std::vector<char> block(kBlockBytes);
  double total = 0;
  for (;;) {
    const ssize_t count = ::recv(socket, block.data(), block.size(), 0);
    if (count <= 0) return total;
    total += static_cast<double>(count);
  }
}

/// Bytes/s that all connections carry at once.
double rate_of(const std::vector<Connection>& connections, double seconds) {
  std::vector<std::future<double>> received;
  std::vector<std::future<void>> sent;
  const Clock::time_point begin = Clock::now();
  for (const Connection& connection : connections) {
    received.push_back(std::async(std::launch::async, receive_all, connection.to.get()));
    sent.push_back(std::async(std::launch::async, send_all, connection.from.get()));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  for (const Connection& connection : connections) {
    ::shutdown(connection.from.get(), SHUT_RDWR);
    ::shutdown(connection.to.get(), SHUT_RDWR);
  }
  const std::chrono::duration<double> taken = Clock::now() - begin;
  double total = 0;
  for (auto& bytes : received) total += bytes.get();
  return total / taken.count();
}

}  // namespace

double tcp_capacity_bytes_per_s(double seconds) {
  const LabSpec spec{.nodes = 2, .nic = shaped_link(1e6), .inside = shaped_link(1e6)};
  const Namespaces namespaces(spec);
  const std::string& lab = namespaces.lab();
  const std::array<Descriptor, 2> listeners{listen_at(lab, 0), listen_at(lab, 1)};
  const std::int64_t count = std::max<std::int64_t>(2, std::thread::hardware_concurrency());
  std::vector<Connection> connections;
  for (std::int64_t i = 0; i < count; ++i) {
    Connection& made = connections.emplace_back();
    made.from = connect_to(lab, i % 2, 1 - i % 2);
    const int accepted = ::accept4(listeners[1 - i % 2].get(), nullptr, nullptr, SOCK_CLOEXEC);
    made.to = Descriptor(checked(accepted, "accept"));
  }
  return rate_of(connections, seconds);
}

}  // namespace stepwright
