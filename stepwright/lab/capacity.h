#pragma once

namespace stepwright {

/// What TCP on this machine carries in all, in bytes/s of payload: two nodes joined as in a lab but
/// not shaped, in packets as those of shaped links, busy both ways for `seconds` on every core.
/// A lab whose links carry more than half of it together measures the machine, not the links.
/// Fails as `Namespaces` does.
double tcp_capacity_bytes_per_s(double seconds);

}  // namespace stepwright
