// The program stepwright-rank contains the code that needs PyTorch. `stepwright train`, `stepwright
// sample` or a launcher starts it.
#include <string_view>

#include "stepwright/core/descriptor.h"
#include "stepwright/core/unfinished_path.h"
#include "stepwright/runtime/launch/rank_main.h"
#include "stepwright/sample/sample_main.h"

int main(int argc, char** argv) {
  stepwright::open_closed_standard_streams();
  stepwright::remove_unfinished_files_at_signals();
  const bool samples = argc > 1 && std::string_view(argv[1]) == "sample";
  return samples ? stepwright::sample::measuring_process_main(argc - 1, argv + 1)
                 : stepwright::runtime::run_rank_command(argc, argv);
}
