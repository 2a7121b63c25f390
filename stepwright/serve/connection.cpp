#include "stepwright/serve/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace stepwright::serve {
namespace {

constexpr std::size_t kReadBytes = 4096;
/// The most bytes of an answer that are sent to one browser before the others are served.
constexpr std::size_t kSentBytes = std::size_t{256} << 10U;

/// True if the last system call would have blocked.
bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

iovec part_of(std::string_view text, std::size_t from, std::size_t most) {
  text.remove_prefix(std::min(from, text.size()));
  text = text.substr(0, most);
  return {const_cast<char*>(text.data()), text.size()};
}

}  // namespace

BrowserConnection::BrowserConnection(FileDescriptor socket, const BrowserConnectionLimits& limits,
                                     Time now)
    : socket_(std::move(socket)), limits_(&limits), deadline_(now + limits.request) {}

short BrowserConnection::poll_events() const {
  return state_ == State::kIsAnswered ? POLLOUT : POLLIN;
}

void BrowserConnection::advance_connection_without_blocking(const ServedPage& page, Time now) {
  switch (state_) {
    case State::kAsks: return read_request(page, now);
    case State::kIsAnswered: return send_on(now);
    case State::kEnds: return read_away();
    case State::kOver: return;
  }
}

void BrowserConnection::close_if_timed_out(Time now) {
  if (now < deadline_) return;
  if (state_ == State::kAsks && !said_.empty()) return begin_answer(http_timeout_response(), now);
  state_ = State::kOver;
}

void BrowserConnection::read_request(const ServedPage& page, Time now) {
  std::array<char, kReadBytes> buffer;
  const ssize_t size = ::recv(socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && would_wait()) return;
  if (size <= 0) {
    state_ = State::kOver;
    return;
  }
  said_.append(buffer.data(), static_cast<std::size_t>(size));
  if (auto answer = http_response(said_, page)) begin_answer(*std::move(answer), now);
}

void BrowserConnection::begin_answer(HttpResponse answer, Time now) {
  state_ = State::kIsAnswered;
  answer_ = std::move(answer);
  answer_deadline_ = now + limits_->answer;
  deadline_ = std::min(now + limits_->idle, answer_deadline_);
  send_on(now);
}

void BrowserConnection::send_on(Time now) {
  const std::size_t head = answer_.head.size();
  std::array<iovec, 2> parts = {part_of(answer_.head, sent_, kSentBytes),
                                part_of(answer_.body, std::max(sent_, head) - head, kSentBytes)};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t sent = ::sendmsg(socket(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (!would_wait()) state_ = State::kOver;
    return;
  }
  sent_ += static_cast<std::size_t>(sent);
  deadline_ = std::min(now + limits_->idle, answer_deadline_);
  if (sent_ < head + answer_.body.size()) return;
  // Only the sending side is closed at first: if the browser still sends bytes, closing both would
  // discard the part of the answer that it has not received yet.
  ::shutdown(socket(), SHUT_WR);
  state_ = State::kEnds;
  deadline_ = now + limits_->farewell;
}

void BrowserConnection::read_away() {
  std::array<char, kReadBytes> buffer;
  const ssize_t size = ::recv(socket(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && !would_wait())) state_ = State::kOver;
}

}  // namespace stepwright::serve
