#include "stepwright/capture/stand_in.h"
#include "stepwright/cli/command_line.h"
#include "stepwright/core/descriptor.h"

int main(int argc, char** argv) {
  stepwright::fill_standard_streams();
  if (const auto code = stepwright::capture::stand_in(argc, argv)) return *code;
  return stepwright::cli::run_command_line(argc, argv);
}
