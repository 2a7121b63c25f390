#pragma once

namespace stepwright::runtime {

/// Runs the command `stepwright-rank`: one rank of a training run. Returns its exit code.
int run_rank_command(int argc, char** argv);

}  // namespace stepwright::runtime
