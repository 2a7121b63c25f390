#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepwright {

// For people only: three significant digits and a unit. A value that is not finite is `n/a`.
// Machine output never passes through here.

/// Returns a number of bytes as text: `40.0 GiB`; below a GiB in MiB, KiB or B.
std::string format_bytes(double size_bytes);

/// Returns a time in seconds as text: `1.25 s`, `12.5 ms` or `3.40 µs`.
std::string format_time(double time_s);

/// Returns bytes per second as text: `186 GB/s` (1 GB is 10^9 bytes).
std::string format_bytes_per_s(double rate_bytes_per_s);

/// Returns floating-point operations per second as text: `412 TFLOP/s`.
std::string format_flops(double flops_per_s);

/// Returns an integer as text with separators: `1,234,567`.
std::string format_count(std::int64_t count);

/// Returns a number as text with four significant digits; from 1,000 on, as a whole number with
/// separators: `1,234`.
std::string format_number(double value);

/// Returns a number with its noun, in the plural unless the number is 1: `1 plan`, `3 plans`.
std::string count_with_noun(std::int64_t count, std::string_view noun);

/// Returns a fraction as a percentage text: 0.413 as `41.3%`.
std::string format_percent(double fraction);

/// Returns a bar of `#` signs for a bar chart: `widest` signs if `amount` equals `most`,
/// proportionally fewer for less, but at least one for any amount above 0.
std::string format_chart_bar(double amount, double most, double widest = 20);

}  // namespace stepwright
