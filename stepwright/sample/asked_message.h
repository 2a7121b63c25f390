#pragma once

#include <string>
#include <string_view>

#include "stepwright/cost/plan_messages.h"

namespace stepwright::sample {

/// Returns a message (a collective of one size) as the text that the option `--message` takes:
/// LIBRARY:OPERATION:NODESxRANKS:BYTES, with RANKS per node and the bytes of the full buffer.
std::string message_option_text(const cost::MeasurablePlanMessage& message);

/// Reads a message (a collective of one size) from the text LIBRARY:OPERATION:NODESxRANKS:BYTES of
/// the option `--message`. Fails with `kInput`, naming the option and the fault.
cost::MeasurablePlanMessage parse_message_option(std::string_view word);

}  // namespace stepwright::sample
