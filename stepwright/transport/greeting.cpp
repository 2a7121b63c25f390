#include "stepwright/transport/greeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"

namespace stepwright::transport {
namespace {

using Greeting = std::array<char, kMaxCallTextBytes>;
using Neighbours = std::set<std::pair<int, std::int32_t>>;  ///< Pairs of a lane and a peer.

struct Heard {
  std::int32_t peer;
  Greeting greeting{};
  std::unique_ptr<MessageTransfer> transfer;
};

std::string_view text_of(const Greeting& greeting) {
  const auto end = std::ranges::find(greeting, '\0');
  return {greeting.data(), static_cast<std::size_t>(end - greeting.begin())};
}

}  // namespace

void check_equal_call_texts(const collective::RankCollectiveSchedule& schedule, std::int32_t rank,
                            std::string_view text, MessageTransport& transport) {
  Neighbours to;
  Neighbours from;
  for (const collective::RankStepSequence& channel : schedule.channels) {
    for (const collective::CollectiveScheduleStep& step : channel.steps) {
      if (collective::sends(step)) to.emplace(channel.lane, step.peer);
      if (collective::receives(step)) from.emplace(channel.lane, step.peer);
    }
  }
  Greeting own{};
  std::ranges::copy(text.substr(0, own.size()), own.begin());
  std::vector<Heard> heard(from.size());
  auto next = heard.begin();
  for (const auto& [lane, peer] : from) {
    next->peer = peer;
    next->transfer =
        transport.start_receive(lane, peer, std::as_writable_bytes(std::span(next->greeting)));
    ++next;
  }
  std::vector<std::unique_ptr<MessageTransfer>> sent;
  for (const auto& [lane, peer] : to) {
    sent.push_back(transport.start_send(lane, peer, std::as_bytes(std::span(own))));
  }
  for (const auto& transfer : sent) transfer->wait_for_transfer();
  for (const Heard& one : heard) one.transfer->wait_for_transfer();
  for (const Heard& one : heard) {
    if (one.greeting == own) continue;
    throw Error(ErrorKind::kInput, fmt::format("rank {} calls {}, but rank {} calls {}", rank,
                                               text_of(own), one.peer, text_of(one.greeting)));
  }
}

}  // namespace stepwright::transport
