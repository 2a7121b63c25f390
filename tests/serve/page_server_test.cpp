#include "stepwright/serve/page_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "stepwright/core/error.h"

namespace stepwright::serve {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::uint16_t port_of(const PageServer& server) {
  const std::string address = server.address();
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

/// A connection to the server. Fails with `kRuntime` where nothing listens.
Descriptor connected(const PageServer& server, in_addr_t to = INADDR_LOOPBACK) {
  Descriptor socket(checked(::socket(AF_INET, SOCK_STREAM, 0), "make a socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(to);
  address.sin_port = htons(port_of(server));
  checked(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
          "connect");
  return socket;
}

void say(const Descriptor& socket, std::string_view text) {
  ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

/// All that comes until the server ends the connection.
std::string heard(const Descriptor& socket) {
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  return text;
}

/// A server that runs while this lives.
class Running {
 public:
  explicit Running(std::string page) : page_(std::move(page)) {
    thread_ = std::jthread([this] { server.run(page_, stop_.read.get()); });
  }
  ~Running() { EXPECT_EQ(::write(stop_.write.get(), "x", 1), 1); }

  PageServer server{0};

 private:
  std::string page_;
  Pipe stop_;
  std::jthread thread_;
};

TEST(PageServer, GivesALargePageWhole) {
  const std::string page(5'000'000, 'p');
  const Running running(page);
  const Descriptor socket = connected(running.server);
  say(socket, "GET / HTTP/1.1\r\nHost: ");
  say(socket, "127.0.0.1\r\n\r\n");
  EXPECT_THAT(heard(socket), EndsWith("\r\n\r\n" + page));
}

TEST(PageServer, ASilentBrowserDelaysNoOther) {
  const Running running("page");
  const Descriptor silent = connected(running.server);
  const Descriptor begun = connected(running.server);
  say(begun, "GET / HT");
  const Descriptor other = connected(running.server);
  say(other, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard(other), EndsWith("page"));
  say(begun, "TP/1.1\r\n\r\n");
  EXPECT_THAT(heard(begun), EndsWith("page"));
}

TEST(PageServer, ABrowserThatGoesAwayEndsNothing) {
  const Running running(std::string(5'000'000, 'p'));
  {
    const Descriptor gone = connected(running.server);
    say(gone, "GET / HTTP/1.1\r\n\r\n");
  }
  const Descriptor other = connected(running.server);
  say(other, "HEAD / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(heard(other), HasSubstr("Content-Length: 5000000"));
}

TEST(PageServer, APortThatIsTakenIsRefused) {
  const PageServer first(0);
  EXPECT_THROW(PageServer second(port_of(first)), Error);
}

TEST(PageServer, ListensOnNoOtherAddress) {
  const PageServer server(0);
  EXPECT_NO_THROW(connected(server));
  EXPECT_THROW(connected(server, INADDR_LOOPBACK + 1), Error);  // 127.0.0.2 is this machine, too
}

}  // namespace
}  // namespace stepwright::serve
