#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepwright {

// For people only: three significant digits and a unit. A value that is not finite is `n/a`.
// Machine output never passes through here.

/// Returns bytes as `40.0 GiB`; below a GiB as MiB, KiB or B.
std::string format_bytes(double size_bytes);

/// Returns seconds as `1.25 s`, `12.5 ms` or `3.40 µs`.
std::string format_time(double time_s);

/// Returns bytes per second as `186 GB/s` (1 GB is 10^9 bytes).
std::string format_rate(double rate_bytes_per_s);

/// Returns floating-point operations per second as `412 TFLOP/s`.
std::string format_flops(double flops_per_s);

/// Returns an integer with separators: `1,234,567`.
std::string format_count(std::int64_t count);

/// Returns a number with four significant digits; from 1,000 on as an integer with separators
/// (`format_count`).
std::string format_number(double value);

/// Returns a number with its noun: `1 plan` or `3 plans`.
std::string count_with_noun(std::int64_t count, std::string_view noun);

/// Returns a fraction as a percentage: 0.413 as `41.3%`.
std::string format_percent(double fraction);

/// Returns a bar of `#` signs for a bar chart: `widest` signs where `amount` is `most`, fewer in
/// proportion, but at least one for any amount above 0.
std::string format_bar(double amount, double most, double widest = 20);

}  // namespace stepwright
