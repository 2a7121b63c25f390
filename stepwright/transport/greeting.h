#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"
#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// Most bytes of the text of a greeting; a longer text is cut.
inline constexpr std::size_t kMaxGreetingBytes = 128;

/// Exchanges one short message with every rank that `schedule` exchanges data with, before the
/// first byte of the collective: each says what it is about to do. Throws `Error{kInput}`, naming
/// both texts, when another rank does something else.
void send_greeting(const collective::RankSchedule& schedule, std::int32_t rank,
                   std::string_view text, Transport& transport);

}  // namespace stepwright::transport
