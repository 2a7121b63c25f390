#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"
#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// Most bytes of the text that ranks exchange before a collective to check that all call the same;
/// a longer text is cut.
inline constexpr std::size_t kMaxCallTextBytes = 128;

/// Before a collective, exchanges a short text about it with every rank that `schedule` exchanges
/// data with, to detect ranks that call something else. Throws `Error{kInput}` with both texts if
/// they differ.
void check_equal_call_texts(const collective::RankCollectiveSchedule& schedule, std::int32_t rank,
                            std::string_view text, MessageTransport& transport);

}  // namespace stepwright::transport
