#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepwright {

// For people only: three significant digits and a unit. A value that is not finite is `n/a`.
// Machine output never passes through here.

/// Bytes as `40.0 GiB`; below a GiB as MiB, KiB or B.
std::string format_bytes(double size_bytes);

/// Seconds as `1.25 s`, `12.5 ms` or `3.40 µs`.
std::string format_time(double time_s);

/// Bytes per second as `186 GB/s` (10^9 bytes).
std::string format_rate(double rate_bytes_per_s);

/// Floating-point operations per second as `412 TFLOP/s`.
std::string format_flops(double flops_per_s);

/// A count as `1,234,567`.
std::string format_count(std::int64_t count);

/// A number that need not be whole: four significant digits, and from 1,000 on as a count.
std::string format_number(double value);

/// A count with its noun as `1 plan` or `3 plans`.
std::string counted(std::int64_t count, std::string_view noun);

/// A fraction as `41.3%`: 1 is 100%.
std::string format_percent(double fraction);

/// A bar of `#` for a part of the most there is, `widest` of them for all of it; at least one for
/// anything at all.
std::string format_bar(double amount, double most, double widest = 20);

}  // namespace stepwright
