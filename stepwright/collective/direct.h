#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// Each rank sends to each other one itself, one latency in all:
///
/// | operation | messages per rank | sends per rank |
/// |---|---|---|
/// | all-to-all, all-gather, reduce-scatter | (N-1) C | (N-1)/N V |
/// | all-reduce | 2 (N-1) C | 2 (N-1)/N V |
///
/// Of that, (N-m)/N V leaves a node of m ranks per rank: for an all-to-all all that has to, for the
/// others m times too much. An all-to-all goes by tiers, so that all ranks of a node talk outside
/// at the same time.
RankSchedule direct_exchange(const ScheduleSpec& spec, std::int32_t rank);

}  // namespace stepwright
