#pragma once

namespace stepwright::sample {

/// Runs `stepwright-rank sample`, one of the measuring processes. Returns its exit code.
int run_sampler(int argc, char** argv);

}  // namespace stepwright::sample
