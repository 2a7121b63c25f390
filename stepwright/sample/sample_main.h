#pragma once

namespace stepwright::sample {

/// `stepwright-rank sample`: one of the processes that measure. Returns its exit code.
int run_sampler(int argc, char** argv);

}  // namespace stepwright::sample
