#pragma once

#include "stepwright/cluster/cluster.h"

namespace stepwright {

/// Dense 16-bit peak; the widest narrower (or else the only) one when the device states none.
double sixteen_bit_flops(const Device& device);

/// The generation that a device states; of one that states none, the generation with whose members'
/// dense 16-bit peaks its own goes: so are devices priced that a person describes by their peaks
/// alone.
Generation generation_of(const Device& device);
Generation generation_of_peak(double sixteen_bit_flops_per_s);

}  // namespace stepwright
