#pragma once

#include "stepwright/cluster/cluster.h"
#include "stepwright/collective/generate.h"

namespace stepwright {

/// The hierarchical overlapping ring, for tiers {m, n} or {m, k, n} and more: groups form an outer
/// ring, and what a rank receives from it is passed on inside its group while the next chunk
/// arrives. A reduce-scatter is the reverse, an all-reduce both, chunk by chunk. Idea: HO-Ring of
/// PaRO (arXiv 2310.06003); order of chunks and waits are our own.
///
/// | operation | sends per rank inside | on its rail | time, C chunks, without latencies |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | (m-1)/m V | (n-1)/(nm) V | max((n-1) e + a/C, n a) |
/// | all-reduce | 2 (m-1)/m V | 2 (n-1)/(nm) V | twice that |
///
/// with S = V/(nm), e = seconds of S on a rail (m of them on a NIC that the group shares), a =
/// seconds of (m-1) S inside. The bytes are the least possible on either level. Scratch of a
/// reduction: 4 S, with inner rings 4 m S. Tiers of one rank are left out.
Tiered ho_ring_tiers(const ScheduleSpec& spec);

/// How the ranks of a node pass blocks on: directly behind one switch, else round.
Inner inner_for(const Cluster& cluster);

}  // namespace stepwright
