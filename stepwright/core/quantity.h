#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// The kinds of quantities in files; a number without a unit is in the first unit named here.
enum class Quantity : std::uint8_t {
  kBytes,  ///< B, kB, MB, GB, TB, KiB, MiB, GiB, TiB
  kRate,   ///< B/s and so on; bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s
  kFlops,  ///< FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s
  kTime,   ///< s, ms, us (also µs), ns; min, h, d
  kTokens  ///< tokens, and K, M, B and T for 10^3 to 10^12 of them
};

/// The unit of a number that stands without one: "bytes/s".
std::string_view unit_of(Quantity quantity);

/// A number of bytes, bytes/s, FLOP/s, seconds or tokens, or text of a number and a unit (`400
/// Gbit/s`, `80 GiB`, `1.5 us`). Both ends are included, in the unit of a bare number. Fails with
/// `kInput` naming the units.
double read_quantity(Node node, Quantity quantity, double low, double high);

}  // namespace stepwright
