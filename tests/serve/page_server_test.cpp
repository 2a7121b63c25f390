#include "stepwright/serve/page_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::serve {
namespace {

using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::uint16_t port_of(const PageServer& server) {
  const std::string address = server.page_address();
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

/// Connects to the server. Fails with `kRuntime` if nothing listens. `buffer_bytes`: how much the
/// system buffers for a reader that does not read; 0: the default.
FileDescriptor connected(const PageServer& server, in_addr_t to = INADDR_LOOPBACK,
                         int buffer_bytes = 0) {
  FileDescriptor socket(checked_system_call(::socket(AF_INET, SOCK_STREAM, 0), "make a socket"));
  if (buffer_bytes > 0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(to);
  address.sin_port = htons(port_of(server));
  checked_system_call(
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
  return socket;
}

void say(const FileDescriptor& socket, std::string_view text) {
  ASSERT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

/// Returns everything received until the server ends the connection.
std::string heard(const FileDescriptor& socket) {
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = ::recv(socket.get(), buffer, sizeof buffer, 0)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  return text;
}

/// A server that runs while this object lives.
class Running {
 public:
  explicit Running(std::string page, const BrowserConnectionLimits& limits = {})
      : server(0, limits), page_(std::move(page)) {
    thread_ = std::jthread([this] { server.serve_until_stopped(page_, stop_.read.get()); });
  }
  ~Running() { stop(); }

  /// Returns when the server has ended.
  void stop() {
    if (!thread_.joinable()) return;
    EXPECT_EQ(::write(stop_.write.get(), "x", 1), 1);
    thread_.join();
  }

  PageServer server;

 private:
  ServedPage page_;
  Pipe stop_;
  std::jthread thread_;
};

/// Returns a connection that has requested a page and reads nothing of it.
FileDescriptor asking_without_reading(const PageServer& server) {
  FileDescriptor socket = connected(server, INADDR_LOOPBACK, 4096);
  say(socket, kGet);
  std::this_thread::sleep_for(milliseconds(50));
  return socket;
}

const std::string kLargePage(5'000'000, 'p');

TEST(PageServer, GivesALargePageWhole) {
  const Running running(kLargePage);
  const FileDescriptor socket = connected(running.server);
  say(socket, "GET / HTTP/1.1\r\nHost: ");
  say(socket, "127.0.0.1\r\n\r\n");
  EXPECT_THAT(heard(socket), EndsWith("\r\n\r\n" + kLargePage));
}

TEST(PageServer, ASilentBrowserDelaysNoOther) {
  const Running running("page");
  const FileDescriptor silent = connected(running.server);
  const FileDescriptor begun = connected(running.server);
  say(begun, "GET / HT");
  const FileDescriptor other = connected(running.server);
  say(other, kGet);
  EXPECT_THAT(heard(other), EndsWith("page"));
  say(begun, kGet.substr(8));
  EXPECT_THAT(heard(begun), EndsWith("page"));
}

TEST(PageServer, ABrowserThatGoesAwayEndsNothing) {
  const Running running(kLargePage);
  {
    const FileDescriptor gone = connected(running.server);
    say(gone, kGet);
  }
  const FileDescriptor other = connected(running.server);
  say(other, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(heard(other), HasSubstr("Content-Length: 5000000"));
}

/// Limits so large that a server that waits for a slow reader would exceed the time of any test.
constexpr BrowserConnectionLimits kPatient{.idle = std::chrono::hours(1),
                                           .answer = std::chrono::hours(1)};

TEST(PageServer, AReaderThatTakesNothingDelaysNeitherOthersNorTheEnd) {
  Running running(kLargePage, kPatient);
  const FileDescriptor slow = asking_without_reading(running.server);
  const FileDescriptor other = connected(running.server);
  say(other, kGet);
  EXPECT_THAT(heard(other), EndsWith(kLargePage));
  running.stop();
}

TEST(PageServer, AReaderOfThreeKilobytesASecondDelaysNeitherOthersNorTheEnd) {
  Running running(kLargePage, kPatient);
  const FileDescriptor slow = asking_without_reading(running.server);
  const std::jthread reader([&](const std::stop_token& stop) {
    char buffer[300];
    while (!stop.stop_requested() && ::recv(slow.get(), buffer, sizeof buffer, 0) > 0) {
      std::this_thread::sleep_for(milliseconds(100));
    }
  });
  for (int i = 0; i < 5; ++i) {
    const FileDescriptor other = connected(running.server);
    say(other, kGet);
    EXPECT_THAT(heard(other), EndsWith(kLargePage));
  }
  running.stop();
}

TEST(PageServer, FiftyBrowsersAreAnsweredAtOnce) {
  const std::string page(500'000, 'p');  // more than the system buffers for a reader
  const Running running(page);
  std::vector<FileDescriptor> all;
  for (int i = 0; i < 50; ++i) all.push_back(connected(running.server));
  for (const FileDescriptor& one : all) say(one, kGet);
  // The last first: no answer waits until another has been taken.
  for (std::size_t i = all.size(); i-- > 0;) EXPECT_THAT(heard(all[i]), EndsWith(page));
}

TEST(PageServer, MoreBrowsersThanPlacesWaitForOne) {
  const Running running("page", {.connections = 2});
  std::vector<FileDescriptor> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(connected(running.server));
    say(all.back(), kGet);
  }
  for (const FileDescriptor& one : all) {
    EXPECT_THAT(heard(one), EndsWith("page"));
    ::shutdown(one.get(), SHUT_RDWR);
  }
}

TEST(PageServer, ARequestHasADeadline) {
  const Running running("page", {.request = milliseconds(100)});
  const FileDescriptor silent = connected(running.server);
  EXPECT_EQ(heard(silent), "");
  const FileDescriptor slow = connected(running.server);
  for (int i = 0; i < 3; ++i) {  // a byte now and then does not help
    say(slow, "G");
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_THAT(heard(slow), StartsWith("HTTP/1.1 408 "));
}

TEST(PageServer, AnAnswerHasADeadline) {
  // The one place is free again, else the other browser would wait for ever.
  for (const BrowserConnectionLimits& limits :
       {BrowserConnectionLimits{.idle = milliseconds(100), .connections = 1},
        BrowserConnectionLimits{.answer = milliseconds(100), .connections = 1}}) {
    const Running running(kLargePage, limits);
    const FileDescriptor slow = asking_without_reading(running.server);
    const FileDescriptor other = connected(running.server);
    say(other, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(heard(other), StartsWith("HTTP/1.1 200 "));
  }
}

TEST(PageServer, ARefusalReachesABrowserThatGoesOnSending) {
  const Running running("page");
  const FileDescriptor socket = connected(running.server);
  say(socket, "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(200'000, 'x'));
  EXPECT_THAT(heard(socket), StartsWith("HTTP/1.1 405 "));
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
