#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "stepwright/core/descriptor.h"
#include "stepwright/serve/request.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// Time limits for browsers, and the number of connections at a time.
struct ServeLimits {
  std::chrono::milliseconds request{10'000};  ///< Time until the request must be complete.
  /// Longest time during which the browser may accept no byte of the answer.
  std::chrono::milliseconds idle{10'000};
  std::chrono::milliseconds answer{300'000};  ///< Time until the whole answer must be accepted.
  /// Time until the browser must close its side of the connection.
  std::chrono::milliseconds farewell{2'000};
  std::size_t connections = 64;
};

/// The connection of one browser: it sends a request, receives the answer and is closed. No member
/// function blocks.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Connection(Descriptor socket, const ServeLimits& limits, Time now);

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Returns the `poll` events that the connection waits for.
  [[nodiscard]] short events() const;
  /// Returns the time at which `end_if_late` must be called.
  [[nodiscard]] Time deadline() const { return deadline_; }
  [[nodiscard]] bool is_over() const { return state_ == State::kOver; }

  /// Reads or sends as many bytes as possible without blocking.
  void go_on(const ServedPage& page, Time now);
  /// Closes the connection if its time is over; an incomplete request is first answered with 408.
  void end_if_late(Time now);

 private:
  enum class State { kAsks, kIsAnswered, kEnds, kOver };

  void read_request(const ServedPage& page, Time now);
  void begin_answer(HttpAnswer answer, Time now);
  void send_on(Time now);
  void read_away();

  Descriptor socket_;
  const ServeLimits* limits_;
  State state_ = State::kAsks;
  Time deadline_;
  Time answer_deadline_;
  std::string said_;
  HttpAnswer answer_;
  std::size_t sent_ = 0;  ///< Bytes of the answer that were sent, its head first.
};

}  // namespace stepwright::serve
