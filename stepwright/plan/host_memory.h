#pragma once

#include "stepwright/plan/job.h"

namespace stepwright {

/// Bytes that a node's host holds of an offloaded optimizer: of every rank of the node the mean
/// over all ranks, with moments, parameters and gradients (`host_bytes_of_element`), and of
/// parameters that lie there those that are fetched.
double host_bytes_of_node(const Job& job, const Plan& plan);

}  // namespace stepwright
