#pragma once

#include <string>
#include <string_view>

#include "stepwright/cost/plan_messages.h"

namespace stepwright::sample {

/// Returns a message as the text that `--message` takes: LIBRARY:OPERATION:NODESxRANKS:BYTES, with
/// the words of the table of samples, RANKS per node, and the bytes of the full buffer.
std::string word_of(const cost::PlanMessage& message);

/// Reads a message from the text LIBRARY:OPERATION:NODESxRANKS:BYTES; its `groups` stays 1. Fails
/// with `kInput`, naming the option and the fault.
cost::PlanMessage parse_message_option(std::string_view word);

}  // namespace stepwright::sample
