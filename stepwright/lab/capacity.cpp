#include "stepwright/lab/capacity.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "stepwright/core/descriptor.h"
#include "stepwright/lab/missing.h"
#include "stepwright/lab/namespaces.h"
#include "stepwright/lab/topology.h"

namespace stepwright::lab {
namespace {

using Clock = std::chrono::steady_clock;

/// A path for bytes: from a node to a NIC of another node, or of its own over the bus.
struct Path {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t rail = 0;
};

sockaddr_in address_of(const Path& path) {
  constexpr std::uint16_t kPort = 29501;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  ::inet_pton(AF_INET, nic_address(path.to, path.rail).c_str(), &address.sin_addr);
  return address;
}

/// Returns a TCP socket of a node, prepared in its namespace by `prepare` (`bind`, `connect`).
template <class Prepare>
FileDescriptor socket_in(const std::string& lab, std::int64_t node, Prepare prepare) {
  const auto make = [&] {  // in a thread of its own, since only that thread moves to the node
    const std::string path = "/run/netns/" + node_namespace(lab, node);
    const FileDescriptor network(
        checked_system_call(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open a node"));
    checked_system_call(::setns(network.get(), CLONE_NEWNET), "enter a node");
    FileDescriptor socket(
        checked_system_call(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket"));
    prepare(socket.get());
    return socket;
  };
  return std::async(std::launch::async, make).get();
}

/// Both ends of a connection.
struct Connection {
  FileDescriptor from;
  FileDescriptor to;
};

Connection connect(const std::string& lab, const Path& path) {
  const sockaddr_in address = address_of(path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const FileDescriptor listener = socket_in(lab, path.to, [&](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    checked_system_call(::bind(socket, generic, sizeof address), "bind a socket");
    checked_system_call(::listen(socket, 1), "listen");
  });
  Connection made;
  made.from = socket_in(lab, path.from, [&](int socket) {
    checked_system_call(::connect(socket, generic, sizeof address), "connect");
  });
  const int accepted = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  made.to = FileDescriptor(checked_system_call(accepted, "accept"));
  return made;
}

constexpr std::size_t kBlockBytes = std::size_t{1} << 17U;

/// Sends data until the connection is shut down.
void send_all(int socket) {
  const std::vector<char> block(kBlockBytes);
  while (::send(socket, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
  }
}

/// Receives until the connection is shut down, and returns the number of bytes.
double receive_all(int socket) {
  std::vector<char> block(kBlockBytes);
  double total = 0;
  for (;;) {
    const ssize_t count = ::recv(socket, block.data(), block.size(), 0);
    if (count <= 0) return total;
    total += static_cast<double>(count);
  }
}

/// Returns the bytes/s of each path when all are busy at once.
std::vector<double> rates_of(const std::string& lab, const std::vector<Path>& paths,
                             double seconds) {
  std::vector<Connection> connections;
  for (const Path& path : paths) connections.push_back(connect(lab, path));
  std::vector<std::future<double>> received;
  std::vector<std::future<void>> sent;
  const Clock::time_point begin = Clock::now();
  for (const Connection& connection : connections) {
    received.push_back(std::async(std::launch::async, receive_all, connection.to.get()));
    sent.push_back(std::async(std::launch::async, send_all, connection.from.get()));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const std::chrono::duration<double> taken = Clock::now() - begin;
  for (const Connection& connection : connections) {
    ::shutdown(connection.from.get(), SHUT_RDWR);
    ::shutdown(connection.to.get(), SHUT_RDWR);
  }
  std::vector<double> rates;
  for (auto& bytes : received) rates.push_back(bytes.get() / taken.count());
  return rates;
}

}  // namespace

double machine_tcp_bytes_per_s(double seconds) {
  const EmulatedClusterSpec spec{
      .nodes = 2, .nic = rate_limited_link(1e6), .inside = rate_limited_link(1e6)};
  const NodeNamespaces namespaces(spec);
  const std::int64_t count = std::max<std::int64_t>(2, std::thread::hardware_concurrency());
  std::vector<Path> paths;
  for (std::int64_t i = 0; i < count; ++i) paths.push_back({.from = i % 2, .to = 1 - i % 2});
  const std::vector<double> rates = rates_of(namespaces.lab(), paths, seconds);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

BusyLinkRateShares measure_busy_links(const EmulatedClusterSpec& spec, double seconds) {
  const NodeNamespaces namespaces(spec);
  run_emulation_commands(traffic_control_commands(spec, namespaces.lab()));
  std::vector<Path> paths;
  for (std::int64_t node = 0; node < spec.nodes; ++node) {
    paths.push_back({.from = node, .to = node});
    if (spec.nodes == 1) break;
    for (std::int64_t rail = 0; rail < spec.nics_per_node(); ++rail) {
      paths.push_back({.from = node, .to = (node + 1) % spec.nodes, .rail = rail});
    }
  }
  const std::vector<double> rates = rates_of(namespaces.lab(), paths, seconds);
  BusyLinkRateShares busy;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool inside = paths[i].from == paths[i].to;
    double& slowest = inside ? busy.inside : busy.nic;
    const RateLimitedLink& link = inside ? spec.inside : spec.nic;
    slowest = std::min(slowest, rates[i] / link.rate_bytes_per_s);
  }
  return busy;
}

}  // namespace stepwright::lab
