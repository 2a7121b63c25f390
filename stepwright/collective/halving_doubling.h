#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// Recursive doubling gathers, recursive halving reduces (Thakur et al. 2005), for N = 2^k ranks:
/// in step i a rank exchanges 2^i blocks with the rank whose number differs in bit i.
///
/// | operation | steps | sends per rank |
/// |---|---|---|
/// | all-gather, reduce-scatter | log2 N | (N-1)/N V |
/// | all-reduce | 2 log2 N | 2 (N-1)/N V |
///
/// Few latencies; all ranks of a node use its NICs at once, and (N-m)/N V per rank leaves it: m
/// times what has to. Scratch of a reduce-scatter: V/2.
RankSchedule halving_doubling(const ScheduleSpec& spec, std::int32_t rank);

/// Scratch of a rank in pieces.
std::int32_t halving_doubling_scratch(const ScheduleSpec& spec);

}  // namespace stepwright
