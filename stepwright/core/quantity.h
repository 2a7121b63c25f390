#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The kinds of quantities in files. A number without a unit is in the first unit listed for its
/// kind.
enum class Quantity : std::uint8_t {
  kBytes,  ///< B, kB, MB, GB, TB, KiB, MiB, GiB, TiB
  kRate,   ///< B/s, kB/s, ... TiB/s; bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s
  kFlops,  ///< FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s
  kTime,   ///< s, ms, us (also µs), ns; min, h, d
  kTokens  ///< tokens, or K, M, B, T for 10^3, 10^6, 10^9, 10^12 tokens
};

/// Returns the unit of a number that is written without one: "bytes/s".
std::string_view unit_of(Quantity quantity);

/// Reads bytes, bytes/s, FLOP/s, seconds or tokens from a number or a text of a number and a unit
/// (`400 Gbit/s`, `80 GiB`, `1.5 us`). `low` and `high` are both allowed, in the unit of a bare
/// number. Fails with `kInput`, naming the allowed units.
double read_quantity(Node node, Quantity quantity, double low, double high);

}  // namespace stepwright
