#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"

namespace stepwright {

/// Kinds of quantities in files, with their units. A number without a unit has the first unit of
/// its kind.
enum class QuantityKind : std::uint8_t {
  kBytes,  ///< Units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB.
  kRate,   ///< Units: B/s, kB/s, ... TiB/s; bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s.
  kFlops,  ///< Units: FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s.
  kTime,   ///< Units: s, ms, us (also µs), ns; min, h, d.
  kTokens  ///< Units: tokens, or K, M, B, T for 10^3, 10^6, 10^9, 10^12 tokens.
};

/// Returns the unit that a number of this kind has if it is written without one: "bytes/s".
std::string_view default_unit_of_quantity(QuantityKind quantity);

/// Reads bytes, bytes/s, FLOP/s, seconds or tokens from a value of a file: a number, or a text of
/// number and unit (`400 Gbit/s`, `80 GiB`, `1.5 us`). Values from `low` to `high` are allowed, in
/// the unit that numbers without unit have. Fails with `kInput`, naming the allowed units.
double read_quantity(DocumentNode node, QuantityKind quantity, double low, double high);

}  // namespace stepwright
