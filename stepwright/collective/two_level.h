#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// Groups and rails in turn, for tiers {m, n}: an all-gather along the rails (ranks at equal places
/// of their groups), then n all-gathers inside the group; a reduce-scatter in reverse; an
/// all-reduce inside, along the rails twice, inside (PaRO, arXiv 2310.06003, whose public code does
/// this).
///
/// | operation | sends per rank inside | on its rail |
/// |---|---|---|
/// | all-gather, reduce-scatter | (m-1)/m V | (n-1)/(nm) V |
/// | all-reduce | 2 (m-1)/m V | 2 (n-1)/(nm) V |
///
/// Either level idles while the other works: time is the sum over levels. Scratch of a reduction:
/// V/m, with inner rings V.
Tiered two_level_tiers(const ScheduleSpec& spec);

}  // namespace stepwright
