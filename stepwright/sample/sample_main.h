#pragma once

namespace stepwright::sample {

/// Runs the program of one measuring process, `stepwright-rank sample`. Returns its exit code.
int run_measuring_process(int argc, char** argv);

}  // namespace stepwright::sample
