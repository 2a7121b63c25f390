#pragma once

#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// The job with the fastest kernel of attention that its device and its framework have, without a
/// framework that any has; equal ones leave the usual one. As it is where a person has named the
/// kernel, or computes in more than 16 bits. Fused kernels of attention differ in nothing but their
/// rate, so that this is chosen before the search and not in it.
plan::Job with_free_kernels(const plan::Job& job);

/// True if the job's framework does not run all of its plans with the job's kernel of attention.
bool narrows_plans(const plan::Job& job);

/// The note on the kernel that was chosen, for people; empty where all stays as it was.
std::string free_kernels_note(const plan::Job& before, const plan::Job& after);

}  // namespace stepwright::tune
