#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// As many rings at once as a node has ranks, for tiers {m, n}: ring k passes round with a part 1/m
/// of every block, comes into each node at rank k + 1 and leaves it at rank k, so that each NIC has
/// one ring to send out and one to take in. What libraries of collectives do on machines with a NIC
/// per device.
///
/// | operation | messages per rank, C chunks | inside | between nodes, per rank |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | m (N-1) C | (m-1)/m (N-1)/N V | (N-1)/(Nm) V |
/// | all-reduce | twice that | twice that | twice that |
///
/// The bytes are nearly the least possible on either level; a block still takes N-1 hops, where a
/// rail takes n-1. Scratch of a reduction: 4 S. Lanes: m.
RankSchedule rings_rank(const ScheduleSpec& spec, std::int32_t rank);

/// Rings of a spec: the ranks of a node.
std::int32_t ring_count(const ScheduleSpec& spec);

}  // namespace stepwright
