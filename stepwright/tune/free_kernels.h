#pragma once

#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns the job with the fastest attention kernel that its device and its framework have
/// (without a framework: that any framework has); of equally fast kernels the usual one stays. The
/// job is returned unchanged where a person has named the kernel, or where it computes in more than
/// 16 bits. Attention kernels differ only in their rate, so this choice is made before the search
/// and not in it.
plan::Job with_free_kernels(const plan::Job& job);

/// True if the job's framework runs only some of its plans with the job's attention kernel.
bool kernel_limits_plans(const plan::Job& job);

/// Returns the note, for people, on the attention kernel that was chosen; empty where the job's
/// kernel stays.
std::string free_kernels_note(const plan::Job& before, const plan::Job& after);

}  // namespace stepwright::tune
