#include <csignal>

#include "stepwright/capture/stand_in.h"
#include "stepwright/cli/command_line.h"
#include "stepwright/core/descriptor.h"
#include "stepwright/core/out_of_memory.h"
#include "stepwright/core/unfinished_path.h"

int main(int argc, char** argv) {
  stepwright::exit_when_out_of_memory("stepwright");
  stepwright::open_closed_standard_streams();
  // If the file size limit is reached, the write then fails with a reason instead of ending the
  // program.
  std::signal(SIGXFSZ, SIG_IGN);
  if (const auto code = stepwright::capture::run_launcher_stand_in(argc, argv)) return *code;
  stepwright::remove_unfinished_files_at_signals();
  return stepwright::cli::run_command_line(argc, argv);
}
