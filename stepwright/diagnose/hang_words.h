#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/stuck_call.h"

namespace stepwright::diagnose {

/// "Rank 3", "Ranks 0-2, 5".
std::string ranks_subject(const std::vector<std::int64_t>& ranks);

/// One of two words, by the number of ranks.
std::string_view word_by_number(const std::vector<std::int64_t>& ranks, std::string_view one,
                                std::string_view many);

/// "all_reduce of [[512]] Float".
std::string call_text(const RankCall& call);

/// "call 7 of group 0 (default_pg)".
std::string call_name(const Evidence& evidence, const StuckCall& stuck);

/// Ranks that made the same call at the same place of the program, by what they made; most first.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> ranks_by_call(const StuckCall& stuck,
                                                                             bool with_frames);

/// The place of a rank's call, or of any other rank's where it did not make it.
Place call_place(const Evidence& evidence, const StuckCall& stuck, std::int64_t rank);

/// Lines of evidence: who is in the call, by what the files say.
std::vector<std::string> who_is_there(const Evidence& evidence, const StuckCall& stuck);

/// The last call of a rank, for evidence; empty without a trail.
std::string last_call(const Evidence& evidence, std::int64_t rank);

/// Why a rank's end has that name: "missing.killed" by SIGKILL, "missing.crashed",
/// "missing.aborted", "missing.died".
std::string_view end_reason(const RankEnd& end);

/// "KeyError: 'x', at train.py:12 in load".
std::string end_text(const RankEnd& end);

}  // namespace stepwright::diagnose
