#pragma once

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright::schedule {

/// Returns a lower bound of the seconds of every order of a pipeline's work. A pipeline rank must
/// do all its work, with every backward in its shorter form. It starts after the first forwards of
/// the ranks before it. Before its first backward can arrive, it can do only as many forwards as it
/// may keep. After its last backward, those of the ranks before it follow, which can overlap only
/// its own postponed weight gradients.
double makespan_lower_bound_s(const UnevenPipeline& pipeline);

}  // namespace stepwright::schedule
