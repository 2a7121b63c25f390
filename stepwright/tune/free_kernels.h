#pragma once

#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns the job with the fastest attention kernel that its device and framework have (without a
/// framework: that any framework has); among equally fast kernels the job's own stays. The job is
/// unchanged if a user named the kernel or if it computes in more than 16 bits. The kernel is
/// chosen before the search, since kernels differ only in their rate.
plan::Job with_fastest_attention_kernel(const plan::Job& job);

/// True if the job's framework runs only some of its plans when it uses the job's attention kernel.
bool is_plan_limited_by_attention_kernel(const plan::Job& job);

/// Returns a note for users about the attention kernel that was chosen; empty if the job's kernel
/// stays.
std::string attention_kernel_choice_note(const plan::Job& before, const plan::Job& after);

}  // namespace stepwright::tune
