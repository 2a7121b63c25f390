#pragma once

#include "stepwright/tune/census.h"

namespace stepwright {

/// Fails with `kInput` for a space without a legal plan: the rule that refused most with an example
/// and its nearest legal plans, and which listed dimensions would have to be freed.
[[noreturn]] void fail_empty(const Job& job, const Census& census);

}  // namespace stepwright
