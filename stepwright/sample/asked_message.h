#pragma once

#include <string>
#include <string_view>

#include "stepwright/cost/plan_messages.h"

namespace stepwright::sample {

/// A message as a word of `--message`: LIBRARY:OPERATION:NODESxRANKS:BYTES with the words of the
/// table of samples, RANKS of a node and the bytes of the full buffer.
std::string word_of(const cost::PlanMessage& message);

/// Such a word; `groups` of the group stays 1. Fails with `kInput`, naming the option and what is
/// wrong.
cost::PlanMessage asked_message(std::string_view word);

}  // namespace stepwright::sample
