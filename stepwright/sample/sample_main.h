#pragma once

namespace stepwright::sample {

/// Runs the program of one measuring process, `stepwright-rank sample`. Returns its exit code.
int measuring_process_main(int argc, char** argv);

}  // namespace stepwright::sample
