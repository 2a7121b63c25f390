#include "stepwright/cli/command_line.h"

int main(int argc, char** argv) { return stepwright::cli::run_command_line(argc, argv); }
