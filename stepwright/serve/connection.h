#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "stepwright/core/descriptor.h"
#include "stepwright/serve/request.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// Time limits for each browser, and the number of connections at a time.
struct BrowserConnectionLimits {
  /// Longest time in which a browser may send its request.
  std::chrono::milliseconds request{10'000};
  /// Longest time during which a browser may accept no byte of the answer.
  std::chrono::milliseconds idle{10'000};
  /// Longest time in which a browser must have received the whole answer.
  std::chrono::milliseconds answer{300'000};
  /// Longest time to wait for the browser to close its side of the connection.
  std::chrono::milliseconds farewell{2'000};
  std::size_t connections = 64;
};

/// The connection of one browser, which sends one HTTP request, receives the answer and is closed.
/// No member function blocks.
class BrowserConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  BrowserConnection(FileDescriptor socket, const BrowserConnectionLimits& limits, Time now);

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Returns the `poll` events for which the connection's socket must be watched.
  [[nodiscard]] short poll_events() const;
  /// Returns the time after which `close_if_timed_out` must be called.
  [[nodiscard]] Time connection_deadline() const { return deadline_; }
  [[nodiscard]] bool is_over() const { return state_ == State::kOver; }

  /// Reads the request or sends the answer as far as possible without blocking. `page`: the page to
  /// serve.
  void advance_connection_without_blocking(const ServedPage& page, Time now);
  /// Closes the connection if its time limit is over; answers an incomplete request with 408 first.
  void close_if_timed_out(Time now);

 private:
  enum class State { kAsks, kIsAnswered, kEnds, kOver };

  void read_request(const ServedPage& page, Time now);
  void begin_answer(HttpResponse answer, Time now);
  void send_on(Time now);
  void read_away();

  FileDescriptor socket_;
  const BrowserConnectionLimits* limits_;
  State state_ = State::kAsks;
  Time deadline_;
  Time answer_deadline_;
  std::string said_;
  HttpResponse answer_;
  std::size_t sent_ = 0;  ///< Number of bytes of the answer (head, then body) already sent.
};

}  // namespace stepwright::serve
