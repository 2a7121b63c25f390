#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/collective/schedule.h"
#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// The longest text of a greeting; what is longer is cut.
inline constexpr std::size_t kGreetingBytes = 128;

/// Tells every rank that `schedule` exchanges messages with what this one is about to do, and hears
/// the same of them: one short message each, before the first byte of the collective. Throws
/// `Error{kInput}` that names both when one of them does something else.
void greet(const collective::RankSchedule& schedule, std::int32_t rank, std::string_view text,
           Transport& transport);

}  // namespace stepwright::transport
