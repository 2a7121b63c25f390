#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "stepwright/core/descriptor.h"
#include "stepwright/serve/request.h"
#include "stepwright/serve/served_page.h"

namespace stepwright::serve {

/// How long browsers may take, and how many may be connected.
struct ServeLimits {
  std::chrono::milliseconds request{10'000};  ///< Time until a request is complete.
  /// Longest time in which no byte of the answer is taken.
  std::chrono::milliseconds idle{10'000};
  std::chrono::milliseconds answer{300'000};  ///< Time until the whole answer is taken.
  std::chrono::milliseconds farewell{2'000};  ///< Time until the browser ends the connection, too.
  std::size_t connections = 64;
};

/// A browser that has connected: it asks, is answered, and ends. No member waits for it.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Connection(Descriptor socket, const ServeLimits& limits, Time now);

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// The events of `poll` that let it go on.
  [[nodiscard]] short events() const;
  /// The time at which `end_if_late` has something to do.
  [[nodiscard]] Time deadline() const { return deadline_; }
  [[nodiscard]] bool is_over() const { return state_ == State::kOver; }

  /// Reads or sends what can be read or sent now.
  void go_on(const ServedPage& page, Time now);
  /// Ends it when its time is over; a request that has begun is answered before.
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
  std::size_t sent_ = 0;  ///< Bytes of the answer, head first.
};

}  // namespace stepwright::serve
