// All sources that know torch as one, so that its headers are read once.
// NOLINTBEGIN(bugprone-suspicious-include)
#include "python/stepwright_torch/csrc/backend.cpp"
#include "python/stepwright_torch/csrc/backend_passed.cpp"
#include "python/stepwright_torch/csrc/c10d_transport.cpp"
#include "python/stepwright_torch/csrc/engine.cpp"
#include "python/stepwright_torch/csrc/module.cpp"
#include "python/stepwright_torch/csrc/passed_work.cpp"
#include "python/stepwright_torch/csrc/requests.cpp"
#include "python/stepwright_torch/csrc/runner.cpp"
#include "python/stepwright_torch/csrc/status_board.cpp"
// NOLINTEND(bugprone-suspicious-include)
