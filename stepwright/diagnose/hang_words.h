#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/stuck_call.h"

namespace stepwright::diagnose {

/// Returns ranks as the subject of a sentence: "Rank 3", "Ranks 0-2, 5".
std::string ranks_subject(const std::vector<std::int64_t>& ranks);

/// Returns `one` if there is one rank, `many` if there are several.
std::string_view plural_word(const std::vector<std::int64_t>& ranks, std::string_view one,
                             std::string_view many);

/// Returns operation, sizes and type of a call: "all_reduce of [[512]] Float".
std::string call_text(const RankCall& call);

/// Returns number and group of a stuck call: "call 7 of group 0 (default_pg)".
std::string call_name(const Evidence& evidence, const StuckCall& stuck);

/// Groups the ranks in a stuck call by the call that they made (`call_text`) and, if `with_frames`,
/// by the line of the program. Largest group of ranks first.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> ranks_by_call(const StuckCall& stuck,
                                                                             bool with_frames);

/// Returns file and line of the call that a rank made; if the rank did not make it, those of
/// another rank's call.
Place call_place(const Evidence& evidence, const StuckCall& stuck, std::int64_t rank);

/// Returns lines of evidence: which ranks are in the stuck call, and from which file that is known.
std::vector<std::string> arrived_ranks_lines(const Evidence& evidence, const StuckCall& stuck);

/// Describes the last call of a rank, as evidence; empty: the files have no calls of the rank.
std::string last_call(const Evidence& evidence, std::int64_t rank);

/// Returns the key in `advice.yaml` for the way in which a rank ended: "missing.killed" (SIGKILL),
/// "missing.crashed", "missing.aborted" or "missing.died".
std::string_view rank_end_reason(const RankEnd& end);

/// Returns how a rank ended, as text: "KeyError: 'x', at train.py:12 in load".
std::string rank_end_text(const RankEnd& end);

}  // namespace stepwright::diagnose
