// All sources that know torch as one, so that its headers are read once.
// NOLINTBEGIN(bugprone-suspicious-include)
#include "python/stepwright_torch/csrc/module.cpp"
#include "stepwright/process_group/backend.cpp"
#include "stepwright/process_group/backend_passed.cpp"
#include "stepwright/process_group/bounded_store.cpp"
#include "stepwright/process_group/c10d_transport.cpp"
#include "stepwright/process_group/engine.cpp"
#include "stepwright/process_group/passed_work.cpp"
#include "stepwright/process_group/requests.cpp"
#include "stepwright/process_group/runner.cpp"
#include "stepwright/process_group/status_board.cpp"
// NOLINTEND(bugprone-suspicious-include)
